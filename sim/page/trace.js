// The page of `stepsim explain` of a trace that stepsim wrote: the report of its run, and what its ranks do.
'use strict';

const ranks_of_trace = (t) =>
  section(
    'What its ranks do',
    numbers_table(
      t.ranks,
      'ranks',
      [
        { title: 'rank', text: ({ row }) => String(row.rank), order: ({ row }) => row.rank },
        { title: 'stage', text: ({ row }) => String(row.stage), order: ({ row }) => row.stage },
      ],
      [
        ['stands for', 'stands_for'],
        ['in', 'window_s'],
        ['busy', 'busy_s'],
        ['computes', 'compute_s'],
        ['communicates', 'communication_s'],
        ['exposed', 'exposed_communication_s'],
        ['copies', 'copies_s'],
        ['slices', 'activities'],
      ],
      'ranks',
    ),
    t.stragglers.length > 0
      ? element(
          'p',
          {},
          'Late: ',
          t.stragglers.map((late, i) =>
            element(
              'span',
              {},
              `${i > 0 ? ', ' : ''}rank ${late.ranks.join(', ')} by `,
              time_of(`stragglers.${i}.late_s`, late.late_s),
              ' a step',
            ),
          ),
        )
      : null,
  );

pages.trace = (page, { result: t, run: r, timeline }) => {
  const titles = titles_of(timeline.causes);
  // Numbers of either document are told apart.
  const of = (name, ...parts) => element('div', { 'data-document': name }, ...parts.filter(Boolean));
  page.append(
    ...[
      header_of(
        'explain',
        r,
        `${subtitle_of(r)} · a simulation by ${t.format}, read back; what the step ` +
          'would take otherwise is simulated now',
      ),
      verdict_of(r),
      of('run', figures_of(r)),
      not_known_of(t.not_known),
      of('run', breakdown_of(r, titles)),
      section_of_timeline(timeline),
      of('run', limits_of(r), communication_of(r)),
      of('result', ranks_of_trace(t)),
      of('run', memory_of(r, timeline)),
      appendix_of({ result: t, run: r }),
    ].filter(Boolean),
  );
};
