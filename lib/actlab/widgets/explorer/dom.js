// Elements and numbers: small pieces that every other module uses.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** An HTML element. */
export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** A number as text: four significant digits, no trailing noise; "none" where there is none. */
export function digits(value, n = 4) {
  if (value === null || value === undefined) return "none";
  return String(Number(value.toPrecision(n)));
}

/** A text with its first letter large. */
export function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/** An estimate [value, low, high, n] as text: four significant digits of the value, and the interval to the same decimal place. */
export function told([value, low, high, n]) {
  if (value === null) return `no value, n = ${n}`;
  const places = Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
  const shown = (number) => (places <= 8 ? number.toFixed(places) : digits(number)); // zero and tiny ones
  const interval = low === null ? "no interval" : `${shown(low)}, ${shown(high)}`;
  return `${shown(value)} [${interval}], n = ${n}`;
}

/** The mean of what is known; null where nothing is. */
export function mean(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}
