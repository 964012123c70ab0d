// The pictures: arms in, elements out. They select nothing and remember nothing.
import { figure, frame, range } from "./axes.js";
import { capital, digits, mean, svg, told } from "./dom.js";
import { ink, line, mark, shade } from "./marks.js";

/** Every arm of the choice: its estimate with its interval, the single values as dots, the noise floor hollow. A group is a level along the axis. */
export function values({ study, choice, arms, styles, width }) {
  const metric = study.metrics[choice.metric], groups = study.factors[choice.along].levels, series = choice[study.series];
  const extent = arms.flatMap((arm) => [...arm.estimates[choice.metric].slice(0, 3), ...arm.singles[choice.metric]]);
  const label = study.factors[choice.along].label, room = (width - 66) / groups.length;
  const tilt = Math.max(...groups.map((name) => name.length)) * 7 > room;
  const chart = frame({
    width,
    height: tilt ? 380 : 340,
    tilt,
    says: `${metric.label} against ${label}, ${series.join(", ")}; the numbers are in the table below`,
    x: { domain: [-0.5, groups.length - 0.5], label, ticks: groups.map((name, i) => [i, name]) },
    y: { domain: range(extent), label: metric.label },
  });
  const at = groups.indexOf(choice[choice.along]);
  if (groups.length > 1) {
    const [left, right] = [chart.px(at - 0.48), chart.px(at + 0.48)];
    chart.plot.append(svg("rect", { class: "chosen", x: left, width: right - left, y: chart.inside.top, height: chart.inside.bottom - chart.inside.top }));
  }
  for (const arm of arms) {
    const step = Math.min(0.84 / series.length, 0.22);
    const x = chart.px(groups.indexOf(arm.at[choice.along]) + (series.indexOf(arm.at[study.series]) - (series.length - 1) / 2) * step);
    chart.plot.append(dot(chart, x, arm, choice.metric, styles[arm.at[study.series]], `${arm.at[choice.along]}, ${arm.at[study.series]}`));
  }
  const what = metric.pairs ? "one a pair of trials; hollow marks: the same seed with one weight moved by one unit in the last place" : "one a trial";
  return figure(`${capital(metric.label)}: ${metric.note}. Marks with 95% intervals over trials; small dots: ${what}. A gap is an arm without a record.`, chart.node);
}

function dot(chart, x, arm, metric, style, name) {
  const [value, low, high] = arm.estimates[metric], group = svg("g", { class: "arm" }, svg("title", {}, `${name}: ${told(arm.estimates[metric])}`));
  for (const single of arm.singles[metric]) {
    if (single !== null) group.append(svg("circle", { class: "single", cx: x + 5, cy: chart.py(single), r: 1.8, fill: ink(style) }));
  }
  if (low !== null) group.append(svg("line", { x1: x, x2: x, y1: chart.py(low), y2: chart.py(high), stroke: ink(style), "stroke-width": 1.6 }));
  if (value !== null) group.append(mark(style, x, chart.py(value)));
  const floor = arm.nudge[metric];
  if (floor !== null && floor !== undefined) group.append(mark(style, x, Math.min(chart.py(floor), chart.inside.bottom), true));
  return group;
}

/** One history column against the iteration: a thin line a trial, a thick one for their mean; dotted lines for the tables of characters. */
export function curves({ study, choice, arms, styles, width }, column, words) {
  const shown = arms.filter((arm) => (arm.curves[column] ?? []).flat().some((value) => value !== null));
  if (!shown.length) return [];
  const levels = column === "val_loss" ? Object.entries(study.tables[choice.scale ?? ""] ?? {}).map(([name, table]) => [name, table.val_loss]) : [];
  const known = shown.flatMap((arm) => arm.curves[column].flat());
  const chart = frame({
    width,
    height: 300,
    says: `${words} against the iteration for ${shown.map((arm) => arm.at[study.series]).join(", ")}`,
    x: { domain: [0, Math.max(...shown.map((arm) => arm.steps.at(-1)))], label: "iteration" },
    y: { domain: range([...known, ...levels.map(([, level]) => level)]), label: words },
  });
  for (const [name, level] of levels) {
    const y = chart.py(level);
    chart.plot.append(
      svg("line", { class: "level", x1: chart.inside.left, x2: chart.inside.right, y1: y, y2: y }),
      svg("text", { x: chart.inside.right, y: y - 4, "text-anchor": "end" }, `${name} table`),
    );
  }
  for (const arm of shown) {
    const style = styles[arm.at[study.series]];
    const points = (ys) => ys.map((y, i) => [chart.px(arm.steps[i]), y === null ? null : chart.py(y)]);
    const means = arm.steps.map((_, i) => mean(arm.curves[column].map((ys) => ys[i])));
    for (const ys of arm.curves[column]) chart.plot.append(line(style, points(ys).filter(([, y]) => y !== null), { "stroke-width": 1, "stroke-dasharray": "", opacity: 0.35 }));
    chart.plot.append(line(style, points(means).filter(([, y]) => y !== null), { "stroke-width": 2 }));
  }
  return [figure(`${capital(words)} against the iteration; thin lines: single trials, thick: their mean.`, chart.node)];
}

/** Every pair of trials of each arm as a square; one scale of shades for all. */
export function pairs({ study, choice, arms, width }, metric) {
  const about = study.metrics[metric], all = arms.flatMap((arm) => arm.singles[metric]).filter((value) => value !== null);
  if (!about?.pairs || !all.length) return [];
  const low = Math.min(...all), high = Math.max(...all), size = Math.max(...arms.map((arm) => arm.labels.length));
  const columns = Math.max(1, Math.min(arms.length, Math.floor(width / 130))), wide = Math.min(200, width / columns), cell = (wide - 34) / size;
  const tall = 24 + size * cell + 18, rows = Math.ceil(arms.length / columns), height = rows * tall + 50;
  const node = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${about.label} of every pair of trials, from ${digits(low)} to ${digits(high)}; the numbers are in the table below` });
  const share = (value) => (high > low ? (value - low) / (high - low) : 0.5);
  arms.forEach((arm, i) => node.append(matrix(arm, metric, cell, share, (i % columns) * wide + 30, Math.floor(i / columns) * tall + 20, arm.at[study.series])));
  const bar = Math.min(200, width - 40), top = rows * tall + 12;
  for (let i = 0; i < 40; i++) node.append(svg("rect", { x: 30 + (i * bar) / 40, y: top, width: bar / 40 + 0.5, height: 10, fill: shade(i / 39) }));
  node.append(svg("text", { x: 30, y: top + 24 }, digits(low, 3)), svg("text", { x: 30 + bar, y: top + 24, "text-anchor": "end" }, digits(high, 3)));
  return [figure(`${capital(about.label)} between every two trials (seeds), one square a pair.`, node)];
}

function matrix(arm, metric, cell, share, left, top, name) {
  const group = svg("g", { transform: `translate(${left},${top})` }, svg("text", { x: 0, y: -6, class: "name" }, name));
  let next = 0;
  arm.labels.forEach((first, i) => {
    const middle = (i + 0.5) * cell;
    group.append(svg("text", { x: -4, y: middle + 4, "text-anchor": "end" }, first), svg("text", { x: middle, y: arm.labels.length * cell + 12, "text-anchor": "middle" }, first));
    for (let j = i + 1; j < arm.labels.length; j++) {
      const value = arm.singles[metric][next++];
      if (value === null) continue;
      for (const [x, y] of [[i, j], [j, i]]) {
        const words = svg("title", {}, `${name}, seeds ${first} and ${arm.labels[j]}: ${digits(value)}`);
        group.append(svg("rect", { x: x * cell, y: y * cell, width: cell - 1, height: cell - 1, fill: shade(share(value)) }, words));
      }
    }
  });
  return group;
}

/** The activation functions of the chosen series, or their slopes. */
export function functions({ study, choice, styles, width }, catalogue, column, words) {
  const shown = choice[study.series].map((level) => [level, catalogue.functions[study.functions[level]]]).filter(([, curve]) => curve);
  if (!shown.length) return [];
  const chart = frame({
    width,
    height: 300,
    says: `${words} of ${shown.map(([level]) => level).join(", ")}`,
    x: { domain: [shown[0][1].x[0], shown[0][1].x.at(-1)], label: "input x" },
    y: { domain: range(shown.flatMap(([, curve]) => curve[column])), label: words },
  });
  for (const [level, curve] of shown) {
    const points = curve.x.map((x, i) => [chart.px(x), curve[column][i] === null ? null : chart.py(curve[column][i])]);
    chart.plot.append(line(styles[level], points, { "stroke-width": 2 }));
  }
  return [figure(`${capital(words)}; a gated activation as a function of its gate, the value that it multiplies being 1.`, chart.node)];
}
