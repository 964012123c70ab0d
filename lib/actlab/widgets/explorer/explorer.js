// The explorer: menus, pictures and a table, on the published page and in a live notebook (see actlab/widgets/explorer.py).
import * as charts from "./charts.js";
import { choose, focus, fromAddress, select, toAddress } from "./choice.js";
import { capital, html, told } from "./dom.js";
import { key } from "./marks.js";
import { csv, rows, table } from "./table.js";

let count = 0;

/** anywidget's entry point. `model` has get, set, save_changes and on; `address` says whether the choice is kept in the page's address. */
export function render({ model, el, address = false }) {
  const catalogue = model.get("catalogue"), id = `explorer-${count++}`;
  el.classList.add("actlab-explorer");
  if (!Object.keys(catalogue.studies).length) {
    el.append(html("p", {}, "There is no record to explore yet."));
    return;
  }
  let choice = choose(catalogue, address ? fromAddress(location.href) : model.get("choice"));
  const menus = html("form", { class: "menus", "aria-label": "What to show" }), status = html("p", { class: "status", role: "status" });
  const main = html("div", { class: "main" }), details = html("div", { class: "details" }), numbers = html("div", { class: "numbers", tabindex: "0", role: "region", "aria-label": "The numbers as a table" });
  const heading = html("p", { class: "heading" });
  const save = html("button", { type: "button" }, "Download these numbers (CSV)");
  el.append(menus, status, main, heading, details, html("details", {}, html("summary", {}, "The numbers as a table"), numbers), save);

  /** Another study begins anew, but for the metric: half of its levels ticked would look like all of them. */
  function change(part) {
    choice = choose(catalogue, part.study ? { metric: choice.metric, ...part } : { ...choice, ...part });
    model.set("choice", choice);
    model.save_changes();
    if (address) history.pushState(history.state, "", toAddress(location.href, catalogue, choice));
    draw();
  }
  if (address) addEventListener("popstate", () => draw(choice = choose(catalogue, fromAddress(location.href))));

  function menu(name, words, options, value) {
    const list = html("select", { name, id: `${id}-${name}` }, ...options.map(([level, text]) => new Option(text, level, false, level === value)));
    list.addEventListener("change", () => change({ [name]: list.value }));
    return html("div", { class: "menu" }, html("label", { for: `${id}-${name}` }, words), list);
  }

  function drawMenus(study) {
    const active = document.activeElement?.id, series = study.series, named = (levels) => levels.map((level) => [level, level]);
    const others = Object.entries(study.factors).filter(([name]) => name !== series);
    const boxes = study.factors[series].levels.map((level) => {
      const box = html("input", { type: "checkbox", name: series, value: level, id: `${id}-${series}-${level}` });
      box.checked = choice[series].includes(level);
      box.addEventListener("change", () => change({ [series]: [...menus.querySelectorAll(`input[name="${series}"]:checked`)].map((one) => one.value) }));
      return html("label", { class: "box" }, box, key(catalogue.styles[level]), level);
    });
    menus.replaceChildren(
      menu("study", "study", Object.entries(catalogue.studies).map(([name, one]) => [name, one.title]), choice.study),
      menu("metric", "metric", Object.entries(study.metrics).map(([name, metric]) => [name, metric.label]), choice.metric),
      ...(others.length > 1 ? [menu("along", "along the axis", others.map(([name, factor]) => [name, factor.label]), choice.along)] : []),
      ...others.filter(([, factor]) => factor.levels.length > 1).map(([name, factor]) => menu(name, factor.label, named(factor.levels), choice[name])),
      html("fieldset", {}, html("legend", {}, study.factors[series].label), ...boxes),
    );
    if (active) document.getElementById(active)?.focus();
  }

  function draw() {
    const study = catalogue.studies[choice.study], arms = select(study, choice), near = focus(arms, choice);
    const width = Math.max(280, Math.floor(el.clientWidth)), part = width > 640 ? Math.floor((width - 24) / 2) : width;
    const shown = { study, choice, styles: catalogue.styles };
    const pair = study.metrics[choice.metric].pairs ? choice.metric : Object.keys(study.metrics).find((name) => study.metrics[name].pairs);
    drawMenus(study);
    main.replaceChildren(charts.values({ ...shown, arms, width }));
    details.replaceChildren(
      ...charts.curves({ ...shown, arms: near, width: part }, "val_loss", "validation loss (nats)"),
      ...charts.curves({ ...shown, arms: near, width: part }, "train_loss", "training loss (nats)"),
      ...charts.functions({ ...shown, width: part }, catalogue, "value", "activation f(x)"),
      ...charts.functions({ ...shown, width: part }, catalogue, "slope", "slope f'(x)"),
      ...charts.pairs({ ...shown, arms: near, width }, pair),
    );
    const place = Object.keys(study.factors).filter((name) => name !== study.series).map((name) => `${study.factors[name].label} ${choice[name]}`).join(", ");
    const settings = study.settings[choice.scale ?? ""];
    heading.textContent = `In detail: ${place}${settings ? ` (${settings})` : ""}.`;
    const said = near.map((arm) => `${arm.at[study.series]} ${told(arm.estimates[choice.metric])}${arm.not_done.length ? ` (${arm.not_done.join(", ")})` : ""}`);
    status.textContent = `${capital(study.metrics[choice.metric].label)} at ${place}: ${said.join("; ") || "no arm is chosen, or none has a record"}.`;
    const lines = rows(study, choice, arms);
    numbers.replaceChildren(table(lines, `${study.title}: ${study.metrics[choice.metric].label}, 95% intervals, n trials`));
    save.onclick = () => download(`${choice.study}-${choice.metric}.csv`, csv(lines));
  }

  menus.addEventListener("submit", (event) => event.preventDefault());
  model.on("change:choice", () => {
    if (JSON.stringify(model.get("choice")) !== JSON.stringify(choice)) change(model.get("choice"));
  });
  let before = 0;
  new ResizeObserver(() => {
    if (el.clientWidth && el.clientWidth !== before) {
      before = el.clientWidth;
      draw();
    }
  }).observe(el);
  draw();
  el.dataset.ready = "true";
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  html("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
