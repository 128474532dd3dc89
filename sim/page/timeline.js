// A step as rows of slices: zoom and pan, what a slice is, and who held it up.
'use strict';

// `end_ns`: where the axis ends, so that timelines of several steps can have one.
const timeline_of = (data, { end_ns = data.step_time_ns } = {}) => {
  const row_height = 22;
  const title_height = 20;
  const axis_height = 26;
  const cause_names = data.causes.map((cause) => cause.cause);
  const cause_titles = data.causes.map((cause) => cause.title);
  const cause_colours = cause_names.map(colour_of);

  const kinds = ['compute', 'communication', 'copy', 'host', 'loader', 'storage'];
  const by_kind = (rows) => rows.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));

  // Slices of a row in order of time: {start, end, cause, span}; waits of the compute row have no span.
  const ranks = data.ranks.map((rank) => {
    const { row, gap_ns, duration_ns, cause } = rank.spans;
    const rows = rank.rows.map((each) => ({ ...each, slices: [], free: 0 }));
    const starts = new Float64Array(row.length);
    for (let i = 0; i < row.length; ++i) {
      const of = rows[row[i]];
      const start = of.free + gap_ns[i];
      starts[i] = start;
      of.free = start + duration_ns[i];
      of.slices.push({ start, end: of.free, cause: cause[i], span: i });
    }
    const compute = rows.find((each) => each.kind === 'compute');
    if (compute) {
      let free = 0;
      rank.waits.cause.forEach((wait, i) => {
        const start = free + rank.waits.gap_ns[i];
        free = start + rank.waits.duration_ns[i];
        compute.slices.push({ start, end: free, cause: wait, span: -1 });
      });
      compute.slices.sort((a, b) => a.start - b.start);
    }
    return {
      ...rank,
      rows: by_kind(rows.filter((each) => each.slices.length > 0)),
      starts,
      open: data.ranks.length === 1,
    };
  });

  // The two ends of each message, by its number.
  const messages = new Map();
  ranks.forEach((rank, r) =>
    rank.spans.message.forEach((message, i) => {
      if (message === 0) return;
      const ends = messages.get(message) ?? {};
      ends[rank.spans.sends[i] ? 'from' : 'to'] = { rank: r, span: i };
      messages.set(message, ends);
    }),
  );

  const canvas = element('canvas', {
    tabindex: '0',
    role: 'application',
    'aria-label':
      'Timeline of a step. Arrow keys pan, plus and minus zoom, 0 shows all, N and P go to the next and ' +
      'the previous slice, up and down to the rows beside, Enter shows all rows of the rank, B goes to what held a slice up.',
  });
  const tip = element('div', { class: 'tip' });
  const chosen_box = element(
    'div',
    { class: 'chosen', 'aria-live': 'polite' },
    element('span', { class: 'hint' }, 'Click a slice to see what it is and what held it up.'),
  );
  const box = element('div', { class: 'timeline' }, canvas, tip);
  const scale = d3.scaleLinear();
  let transform = d3.zoomIdentity;
  let follows = false; // another timeline that is zoomed
  let chosen = null;
  let lanes = [];

  // Lanes of the picture from top to bottom: the title of a rank, then its rows.
  const lay_out = () => {
    lanes = [];
    let y = axis_height;
    ranks.forEach((rank, r) => {
      lanes.push({ rank: r, title: true, y, height: title_height });
      y += title_height;
      rank.rows
        .filter((row) => rank.open || row.kind === 'compute')
        .forEach((row) => {
          lanes.push({ rank: r, row, y, height: row_height });
          y += row_height;
        });
      y += 4;
    });
    return y;
  };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // What a slice of another row is called costs nothing by itself: only what the compute row waits for does.
  const is_idle_host = (row, slice) => row.kind === 'host' && cause_names[slice.cause] === 'launch_gap';
  const fill_of = (row, slice) => (is_idle_host(row, slice) ? '#b0b6bd' : cause_colours[slice.cause]);
  const first_after = (slices, time) => d3.bisector((slice) => slice.end).left(slices, time);
  const lane_of = (r, row) =>
    lanes.find((lane) => lane.rank === r && lane.row === row) ??
    lanes.find((lane) => lane.rank === r && lane.row?.kind === 'compute') ??
    lanes.find((lane) => lane.rank === r);
  const row_of = (r, span) => ranks[r].rows.find((row) => row.slices.some((slice) => slice.span === span));
  const visible = () => scale.domain();

  const label = (rank) =>
    `${ranks.length > 1 ? `stage ${rank.stage}, ` : ''}rank ${rank.rank}` +
    (rank.multiplicity > 1 ? ` (${words.whole(rank.multiplicity - 1)} more alike)` : '');

  const draw_lane = (context, lane, width) => {
    const [from, to] = visible();
    const slices = lane.row.slices;
    let drawn_until = -1;
    let drawn_cause = -1;
    for (let i = Math.max(0, first_after(slices, from)); i < slices.length && slices[i].start < to; ++i) {
      const slice = slices[i];
      const x = Math.max(scale(slice.start), 0);
      const until = Math.min(scale(slice.end), width);
      if (until - x < 0.7 && Math.floor(until) === drawn_until && slice.cause === drawn_cause) continue;
      drawn_until = Math.floor(until);
      drawn_cause = slice.cause;
      const is_wait = slice.span < 0;
      context.fillStyle = fill_of(lane.row, slice);
      context.globalAlpha = is_wait || lane.row.kind !== 'compute' ? 0.75 : 1;
      const inset = is_wait ? 7 : 2;
      context.fillRect(x, lane.y + inset, Math.max(until - x, 0.7), lane.height - 2 * inset);
      context.globalAlpha = 1;
      if (until - x > 44 && !is_wait) {
        context.save();
        context.beginPath();
        context.rect(x, lane.y, until - x - 3, lane.height);
        context.clip();
        context.fillStyle = ink_on(fill_of(lane.row, slice));
        context.fillText(name_of(lane.rank, slice), x + 4, lane.y + lane.height / 2 + 4);
        context.restore();
      }
    }
  };

  const name_of = (r, slice) =>
    slice.span < 0 ? `waits: ${cause_titles[slice.cause]}` : data.names[ranks[r].spans.name[slice.span]];

  const draw_arrow = (context, ends) => {
    if (!ends.from || !ends.to) return;
    const place = ({ rank, span }) => {
      const lane = lane_of(rank, row_of(rank, span));
      const middle = ranks[rank].starts[span] + ranks[rank].spans.duration_ns[span] / 2;
      return [scale(middle), lane.y + lane.height / 2];
    };
    const [x1, y1] = place(ends.from);
    const [x2, y2] = place(ends.to);
    context.strokeStyle = colour('--text');
    context.fillStyle = colour('--text');
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    const angle = Math.atan2(y2 - y1, x2 - x1);
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 8 * Math.cos(angle - 0.4), y2 - 8 * Math.sin(angle - 0.4));
    context.lineTo(x2 - 8 * Math.cos(angle + 0.4), y2 - 8 * Math.sin(angle + 0.4));
    context.fill();
  };

  const draw = () => {
    const width = box.clientWidth;
    const height = lay_out();
    const density = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    canvas.style.height = `${height}px`;
    scale.range([0, width]);
    scale.domain([0, end_ns].map((time) => (transform.invertX((time / end_ns) * width) / width) * end_ns));
    const [from, to] = visible();
    box.dataset.from = String(from);
    box.dataset.to = String(to);
    const context = canvas.getContext('2d');
    context.scale(density, density);
    context.font = '12px system-ui, sans-serif';
    context.clearRect(0, 0, width, height);
    scale.ticks(Math.max(2, Math.floor(width / 130))).forEach((tick) => {
      context.fillStyle = colour('--line');
      context.fillRect(Math.round(scale(tick)), 0, 1, height);
      context.fillStyle = colour('--dim');
      const text = words.seconds(tick / 1e9);
      if (scale(tick) + context.measureText(text).width + 6 < width) context.fillText(text, scale(tick) + 4, 16);
    });
    lanes.forEach((lane) => {
      if (lane.title) {
        context.fillStyle = colour('--text');
        const marker = ranks[lane.rank].rows.length > 1 ? (ranks[lane.rank].open ? '▾ ' : '▸ ') : '';
        context.fillText(marker + label(ranks[lane.rank]), 6, lane.y + 15);
      } else {
        draw_lane(context, lane, width);
        if (lane.row.kind !== 'compute') {
          context.fillStyle = colour('--dim');
          context.fillText(lane.row.name, 6, lane.y + 15);
        }
      }
    });
    if (chosen) {
      const lane = lane_of(chosen.rank, chosen.row);
      context.strokeStyle = colour('--text');
      context.lineWidth = 2;
      context.strokeRect(
        scale(chosen.slice.start),
        lane.y + 1,
        Math.max(scale(chosen.slice.end) - scale(chosen.slice.start), 2),
        lane.height - 2,
      );
      const message = chosen.slice.span < 0 ? 0 : ranks[chosen.rank].spans.message[chosen.slice.span];
      if (message !== 0) draw_arrow(context, messages.get(message));
    }
  };

  const zoom = d3
    .zoom()
    .scaleExtent([1, Math.max(1, end_ns / 200)])
    .filter(
      () => !d3.event.button && (d3.event.type !== 'wheel' || d3.event.ctrlKey || document.activeElement === canvas),
    )
    .on('zoom', () => {
      transform = d3.event.transform;
      draw();
      if (!follows) (made.together ?? []).forEach((other) => other.follow(transform));
    });
  const selection = d3.select(canvas);
  const set_extent = () => {
    const size = [
      [0, 0],
      [box.clientWidth, canvas.clientHeight],
    ];
    zoom.extent(size).translateExtent(size);
  };
  const show_all = () => selection.call(zoom.transform, d3.zoomIdentity);
  const show = (from, to) => {
    const width = box.clientWidth;
    const factor = Math.min(end_ns / Math.max(to - from, 1), end_ns / 200);
    selection.call(zoom.transform, d3.zoomIdentity.scale(factor).translate((-from / end_ns) * width, 0));
  };

  const hit = (x, y) => {
    const lane = lanes.find((each) => y >= each.y && y < each.y + each.height);
    if (!lane) return null;
    if (lane.title) return { rank: lane.rank, title: true };
    const time = scale.invert(x);
    const near = scale.invert(x + 2) - time;
    const slices = lane.row.slices;
    const index = Math.max(0, first_after(slices, time - near));
    const slice = slices[index];
    return slice && slice.start <= time + near ? { rank: lane.rank, row: lane.row, slice, index } : null;
  };

  const find_span = (r, span) => {
    const row = row_of(r, span);
    const index = row.slices.findIndex((slice) => slice.span === span);
    return { rank: r, row, slice: row.slices[index], index };
  };

  const choose = (found, bring) => {
    chosen = found;
    if (found.row.kind !== 'compute') ranks[found.rank].open = true;
    describe();
    const [from, to] = visible();
    if (bring && (found.slice.start < from || found.slice.end > to)) {
      const half = Math.max((to - from) / 2, found.slice.end - found.slice.start);
      const middle = (found.slice.start + found.slice.end) / 2;
      show(Math.max(0, middle - half), Math.min(end_ns, middle + half));
    } else {
      draw();
    }
  };

  const link = (text, r, span) =>
    element('button', { type: 'button', onclick: () => choose(find_span(r, span), true) }, text);

  const describe = () => {
    const { rank: r, row, slice } = chosen;
    const rank = ranks[r];
    const facts = [
      ['where', `${label(rank)}, ${row.name}${row.group ? `, ranks ${row.group}` : ''}`],
      ...(row.kind === 'compute'
        ? [['cause', cause_titles[slice.cause]]]
        : is_idle_host(row, slice)
          ? [['the host', 'waits']]
          : [['if GPUs wait for it', cause_titles[slice.cause]]]),
      ['starts', words.seconds(slice.start / 1e9)],
      ['takes', words.seconds((slice.end - slice.start) / 1e9)],
    ];
    if (slice.span >= 0) {
      const i = slice.span;
      const of = rank.spans;
      const details = data.details[of.details[i]];
      if (of.micro_batch[i] >= 0) facts.push(['micro-batch', String(of.micro_batch[i])]);
      if (of.layer[i] >= 0) facts.push(['layer', String(of.layer[i])]);
      if (details.shape) facts.push(['shape', details.shape]);
      if (details.flops) {
        facts.push([
          'work',
          `${words.count(details.flops)}FLOP, ` + `${words.count(details.flops / (of.duration_ns[i] / 1e9))}FLOP/s`,
        ]);
      }
      if (of.bytes[i] > 0) facts.push(['bytes', words.bytes(of.bytes[i])]);
      if (details.algorithm) {
        facts.push(['algorithm', details.algorithm + (details.protocol ? `, ${details.protocol}` : '')]);
      }
      if (of.wait_ns[i] > 0)
        facts.push(['waited', `${words.seconds(of.wait_ns[i] / 1e9)}: ${cause_titles[of.wait_cause[i]]}`]);
      const back = of.blocker_back[i];
      if (back > 0) facts.push(['held up by', link(data.names[of.name[i - back]], r, i - back)]);
      const ends = messages.get(of.message[i]);
      const other = ends && (of.sends[i] ? ends.to : ends.from);
      if (other)
        facts.push([of.sends[i] ? 'received by' : 'sent by', link(label(ranks[other.rank]), other.rank, other.span)]);
    }
    chosen_box.replaceChildren(
      element('strong', {}, name_of(r, slice)),
      element(
        'dl',
        {},
        facts.flatMap(([name, text]) => [element('dt', {}, name), element('dd', {}, text)]),
      ),
    );
  };

  selection
    .on('click', () => {
      if (d3.event.defaultPrevented) return;
      const [x, y] = d3.mouse(canvas);
      const found = hit(x, y);
      canvas.focus();
      if (!found) return;
      if (found.title) {
        ranks[found.rank].open = !ranks[found.rank].open;
        draw();
        set_extent();
      } else {
        choose(found, false);
      }
    })
    .on('mousemove', () => {
      const [x, y] = d3.mouse(canvas);
      const found = hit(x, y);
      if (!found || found.title) {
        tip.style.display = 'none';
        return;
      }
      tip.textContent = `${name_of(found.rank, found.slice)}, ${words.seconds((found.slice.end - found.slice.start) / 1e9)}`;
      tip.style.display = 'block';
      tip.style.left = `${Math.min(x + 12, Math.max(0, box.clientWidth - tip.offsetWidth - 4))}px`;
      tip.style.top = `${y + 14}px`;
    })
    .on('mouseleave', () => {
      tip.style.display = 'none';
    });

  const step_to = (by) => {
    if (!chosen) {
      const lane = lanes.find((each) => each.row);
      if (lane) choose({ rank: lane.rank, row: lane.row, slice: lane.row.slices[0], index: 0 }, true);
      return;
    }
    const index = chosen.index + by;
    const slice = chosen.row.slices[index];
    if (slice) choose({ ...chosen, slice, index }, true);
  };
  const to_blocker = () => {
    if (!chosen || chosen.slice.span < 0) return;
    const back = ranks[chosen.rank].spans.blocker_back[chosen.slice.span];
    if (back > 0) choose(find_span(chosen.rank, chosen.slice.span - back), true);
  };
  // The slice of the row above or below that is nearest in time.
  const row_beside = (by) => {
    if (!chosen) return step_to(0);
    const rows = lanes.filter((lane) => lane.row);
    const lane = rows[rows.findIndex((each) => each.rank === chosen.rank && each.row === chosen.row) + by];
    if (!lane) return null;
    const middle = (chosen.slice.start + chosen.slice.end) / 2;
    const index = Math.min(first_after(lane.row.slices, middle), lane.row.slices.length - 1);
    return choose({ rank: lane.rank, row: lane.row, slice: lane.row.slices[index], index }, true);
  };
  const open_rank = () => {
    if (!chosen) return;
    ranks[chosen.rank].open = !ranks[chosen.rank].open;
    draw();
    set_extent();
  };
  const pan = (share) => selection.call(zoom.translateBy, (-share * box.clientWidth) / transform.k, 0);
  const keys = {
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    '+': () => selection.call(zoom.scaleBy, 1.5),
    '=': () => selection.call(zoom.scaleBy, 1.5),
    '-': () => selection.call(zoom.scaleBy, 1 / 1.5),
    0: show_all,
    ArrowUp: () => row_beside(-1),
    ArrowDown: () => row_beside(1),
    Enter: open_rank,
    n: () => step_to(1),
    p: () => step_to(-1),
    b: to_blocker,
  };
  canvas.addEventListener('keydown', (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  const button = (text, title, act) => element('button', { type: 'button', title, onclick: act }, text);
  const open_all = () => {
    const open = !ranks.every((rank) => rank.open);
    ranks.forEach((rank) => {
      rank.open = open;
    });
    draw();
    set_extent();
  };
  const used = [
    ...new Set(
      ranks.flatMap((rank) =>
        rank.rows.filter((row) => row.kind === 'compute').flatMap((row) => row.slices.map((slice) => slice.cause)),
      ),
    ),
  ].sort((a, b) => a - b);
  const left_out =
    data.ranks_left_out > 0 ? ` ${words.whole(data.ranks_left_out)} more kinds of ranks are left out.` : '';
  const made = element(
    'div',
    {},
    element(
      'div',
      {},
      button('+', 'zoom in', () => selection.call(zoom.scaleBy, 2)),
      button('−', 'zoom out', () => selection.call(zoom.scaleBy, 0.5)),
      button('all', 'show the whole step', show_all),
      ranks.length > 1 ? button('rows of all ranks', 'show or hide communication, copies and hosts', open_all) : null,
    ),
    box,
    chosen_box,
    legend(used.map((cause) => ({ name: cause_titles[cause], colour: cause_colours[cause] }))),
    element(
      'p',
      { class: 'hint' },
      `One measured step. Slices are ${
        data.level === 'kernel' ? 'single kernels' : 'kernels between two points of contact with other ranks'
      }; the low ones between them are waits.${left_out} Only the compute row counts: what runs beside it is hidden. ` +
        'Drag to pan; the wheel zooms with Ctrl or after a click; a click on a title shows all rows of a rank.',
    ),
  );
  made.follow = (other) => {
    follows = true;
    selection.call(zoom.transform, d3.zoomIdentity.translate(other.x, 0).scale(other.k));
    follows = false;
  };
  selection.call(zoom).on('dblclick.zoom', null);
  new ResizeObserver(() => {
    draw();
    set_extent();
  }).observe(box);
  addEventListener('resize', draw);
  return made;
};
