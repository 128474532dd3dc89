// Numbers as words: three digits and a unit, as the program prints them.
'use strict';

const words = (() => {
  const digits = (value) => {
    const size = Math.abs(value);
    if (!(size > 0)) return '0';
    return size >= 99.95 ? value.toFixed(0) : value.toPrecision(3);
  };
  const scaled = (value, steps) => {
    for (const [size, unit] of steps) {
      if (Math.abs(value) >= size * 0.9995) return `${digits(value / size)} ${unit}`;
    }
    const [size, unit] = steps[steps.length - 1];
    return `${digits(value / size)} ${unit}`;
  };
  const known = (write) => (value) =>
    value === null || value === undefined || Number.isNaN(value) ? 'not known' : write(value);
  return {
    digits: known(digits),
    seconds: known((value) =>
      value === 0
        ? '0 s'
        : Math.abs(value) >= 86400
          ? `${digits(value / 86400)} days`
          : Math.abs(value) >= 3600
            ? `${digits(value / 3600)} h`
            : scaled(value, [
                [1, 's'],
                [1e-3, 'ms'],
                [1e-6, 'us'],
                [1e-9, 'ns'],
              ]),
    ),
    bytes: known((value) =>
      value === 0
        ? '0 B'
        : scaled(value, [
            [2 ** 40, 'TiB'],
            [2 ** 30, 'GiB'],
            [2 ** 20, 'MiB'],
            [2 ** 10, 'KiB'],
            [1, 'B'],
          ]),
    ),
    count: known((value) =>
      Math.abs(value) < 1e4
        ? digits(value)
        : scaled(value, [
            [1e15, 'P'],
            [1e12, 'T'],
            [1e9, 'G'],
            [1e6, 'M'],
            [1e3, 'k'],
          ]),
    ),
    whole: known((value) => d3.format(',')(value)),
    percent: known((value) => `${(100 * value).toFixed(1)} %`),
    change: known((value) => {
      const share = Math.abs(100 * value).toFixed(1);
      return `${share === '0.0' ? '' : value > 0 ? '+' : '−'}${share} %`;
    }),
    dollars: known((value) => `$${Math.abs(value) >= 1000 ? d3.format(',.0f')(value) : digits(value)}`),
    // A key of a document as words: peak_bytes to "peak", in_flight_s to "in flight".
    key: (name) =>
      /^(mfu|hfu)$/.test(name)
        ? name.toUpperCase()
        : name
            .replace(/_per_s\b/, ' a second')
            .replace(/_per_gpu$/, ' and GPU')
            .replace(/_(s|bytes|ns)$/, '')
            .replace(/_/g, ' '),
    title: (text) => text.charAt(0).toUpperCase() + text.slice(1),
    // A value by the unit that its key ends in.
    of_key: (name, value) => {
      if (typeof value !== 'number') return value === null ? 'none' : String(value);
      if (/_bytes$/.test(name)) return words.bytes(value);
      if (/_ns$/.test(name)) return words.seconds(value / 1e9);
      if (/(_s|^seconds)$/.test(name) && !/per_s$/.test(name)) return words.seconds(value);
      if (/dollars$/.test(name)) return words.dollars(value);
      if (/kwh$/.test(name)) return `${words.digits(value)} kWh`;
      if (/fraction|mfu|hfu|_ape|mape|bias|goodput|efficiency/.test(name)) return words.percent(value);
      return Number.isInteger(value) ? words.whole(value) : words.count(value);
    },
  };
})();
