// The numbers behind the picture, as a table and as CSV: the columns of actlab/explore.py (Study.table).
import { digits, html } from "./dom.js";

/** Header and rows; numbers as they are, null where there is none. */
export function rows(study, choice, arms) {
  const factors = Object.keys(study.factors);
  const header = [...factors, "metric", "value", "low", "high", "n", "parameters", "singles"];
  const body = arms.map((arm) => [
    ...factors.map((factor) => arm.at[factor]),
    choice.metric,
    ...arm.estimates[choice.metric],
    arm.parameters,
    arm.singles[choice.metric].map((value) => value ?? "nan").join(" "),
  ]);
  return [header, ...body];
}

/** RFC 4180. */
export function csv(lines) {
  const field = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return lines.map((cells) => cells.map((cell) => field(String(cell ?? ""))).join(",") + "\r\n").join("");
}

/** The table as an element, without the single values, which the CSV has. */
export function table([header, ...body], caption) {
  const kept = header.length - 1, shown = (cell) => (typeof cell === "number" ? digits(cell, 6) : (cell ?? "none"));
  return html(
    "table",
    { class: "table" },
    html("caption", {}, caption),
    html("thead", {}, html("tr", {}, ...header.slice(0, kept).map((name) => html("th", { scope: "col" }, name)))),
    html("tbody", {}, ...body.map((cells) => html("tr", {}, ...cells.slice(0, kept).map((cell) => html("td", {}, String(shown(cell))))))),
  );
}
