// Numbers in words, elements of a page, and the one picture: marks and lines in a frame. Estimates nothing.

const known = Number.isFinite;
const digits = (value, n = 4) => (known(value) ? String(Number(value.toPrecision(n))) : "none");
/** A label without its unit, for sentences. */
const short = (label) => label.replace(/ \([^)]*\)/, "");
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** [value, low, high, n] in words: its significant digits, and the interval to the same decimal place. */
function told([value, low, high, n], signed) {
  if (!known(value) || !n) return digits(value, 3);
  const places = Math.max(0, (signed ? 2 : 3) - Math.floor(Math.log10(Math.abs(value))));
  const shown = (number) => (signed && number > 0 ? "+" : "") + (places < 7 ? number.toFixed(places) : digits(number, 2));
  return `${shown(value)}${known(low) ? ` [${shown(low)}, ${shown(high)}]` : ""}, n = ${n}`;
}

function html(tag, properties, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return Object.assign(made, properties);
}
function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  made.append(...children);
  return made;
}

function table([header, ...rows], caption) {
  const row = (cells, tag, about) => html("tr", {}, ...header.map((_, i) => html(tag, about, String(cells[i] ?? NaN).replace("NaN", "none"))));
  const head = html("thead", {}, row(header, "th", { scope: "col" })), body = rows.map((cells) => row(cells, "td"));
  return html("table", { className: "table" }, html("caption", {}, caption), head, html("tbody", {}, ...body));
}

/** RFC 4180; what a spreadsheet would take for a formula gets an apostrophe (actlab.files.in_csv). */
function download(name, lines) {
  const inert = (value) => (/^[=+\-@\t\r]/.test(value) && isNaN(value) ? `'${value}` : value);
  const field = (value) => (typeof value === "string" ? `"${inert(value).replaceAll('"', '""')}"` : value);
  const text = lines.map((cells) => `${cells.map(field).join()}\r\n`).join("");
  html("a", { href: "data:text/csv;charset=utf-8," + encodeURIComponent(text), download: name }).click();
}

const straight = (x1, y1, x2, y2, more) => svg("line", { x1, y1, x2, y2, ...more });
const shape = ({ colour: stroke, shape: d }, x, y, hollow) =>
  svg("path", { d, transform: `translate(${x},${y})`, stroke, fill: hollow ? "none" : stroke });
const path = ({ colour: stroke, dashes }, d) => svg("path", { d, class: "line", stroke, "stroke-dasharray": dashes });

/** An axis {log, also: further values, backwards, names} over some values: its ticks [[value, text]], and `to`: value -> pixel. */
function axis({ log, also = [], backwards, names = [] }, values, from, to, count) {
  const turn = log ? Math.log10 : (value) => value, ticks = names.map((name, i) => [i, name]);
  const found = [...values, ...also].map(turn).filter(known);
  if (!found.length) found.push(0);
  let low = Math.min(...found), high = Math.max(...found), step = 1;
  if (ticks.length) [low, high] = [-0.5, ticks.length - 0.5];
  else {
    if (log) [low, high] = [Math.floor(low), Math.floor(high) + 1];
    else {
      const more = (high - low || Math.abs(high) || 20) / 20;
      [low, high] = [low >= 0 && low < more ? 0 : low - more, high + more];
      const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
      step = power * [1, 2, 5, 10].find((one) => one * power >= rough);
    }
    for (let i = Math.ceil(low / step - 1e-9); i <= high / step + 1e-9; i++)
      ticks.push(log ? [10 ** i, (10 ** i).toExponential(0).replace("e+0", "")] : [i * step, digits(i * step)]);
  }
  const [start, end] = backwards ? [high, low] : [low, high];
  return { ticks, to: (value) => from + ((turn(value) - start) / (end - start)) * (to - from) };
}

/** A frame with axes, and points {arm, x, found: [value, low, high], ends: interval of x, singles, hollow, words}; `line`:
    joined arm by arm, `until`: of each arm only so many; `more`: further elements, of the scales. */
function chart({ study, width, height = 330, x, y, points, line, until, more }) {
  const tilt = x.names && Math.max(...x.names.map((name) => name.length)) * 7.5 > (width - 72) / x.names.length;
  const left = 58, right = width - 14, top = 24, bottom = height - (tilt ? 96 : 46);
  const across = axis(x, points.flatMap(({ x, ends = [] }) => [x, ...ends]), left, right, width / 100);
  const up = axis(y, points.flatMap(({ found, singles = [] }) => [...found.slice(0, 3), ...singles]), bottom, top, 5);
  const px = across.to, py = (value) => Math.min(up.to(value), bottom); // an exact 0 on a logarithmic axis
  const node = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${y.label} against ${x.label}; the numbers are in the table` });
  const write = (text, x, y, anchor, turned = 0) =>
    node.append(svg("text", { transform: `translate(${x},${y}) rotate(${turned})`, "text-anchor": anchor }, text));
  for (const [value, text] of up.ticks) {
    node.append(straight(left, py(value), right, py(value), { class: value ? "grid" : "axis" }));
    write(text, left - 6, py(value) + 4, "end");
  }
  node.append(straight(left, bottom, right, bottom, { class: "axis" }));
  for (const [value, text] of across.ticks)
    if (tilt) write(text, px(value) + 4, bottom + 15, "end", -38);
    else write(text, px(value), bottom + 15, "middle");
  write(x.label, (left + right) / 2, height - 6, "middle");
  write(y.label, 4, 13, "start");
  if (more) node.append(more({ px, py, top, bottom }));

  for (const [arm, all] of Map.groupBy(points, (one) => one.arm)) {
    const style = study.styles[arm.at[study.series]], drawn = all.slice(0, until), stroke = style.colour;
    if (line) node.append(path(style, `M${drawn.map((one) => [px(one.x), py(one.found[0])]).join("L")}`));
    for (const { x: place, found: [value, low, high], ends = [], singles = [], hollow, words } of drawn) {
      const group = svg("g", { class: "arm", role: "img", tabindex: -1, "aria-label": words }), middle = px(place);
      for (const one of singles.filter(known)) group.append(svg("circle", { class: "single", cx: middle + 6, cy: py(one), r: 1.8, fill: stroke }));
      if (known(low)) group.append(straight(middle, py(low), middle, py(high), { stroke }));
      if (known(ends[0])) group.append(straight(px(ends[0]), py(value), px(ends[1]), py(value), { stroke }));
      if (known(value)) group.append(svg("circle", { cx: middle, cy: py(value), r: 9, fill: "transparent" }), shape(style, middle, py(value), hollow));
      node.append(group);
    }
  }
  return node;
}
