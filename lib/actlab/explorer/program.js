// The program: menus, the chosen picture, its table and its Python, on the published page and in a live notebook.

/** anywidget's entry point: `model` has get, set, save_changes and on; `address`: the page's address holds the choice. */
function render({ model, el, address }) {
  const catalogue = model.get("catalogue"), { studies, words } = catalogue, id = `explorer-${Math.random()}`;
  el.classList.add("actlab-explorer");
  if (!Object.keys(studies).length) return el.append(words.said.empty);
  const held = () => choose(catalogue, address ? fromHash(location.hash) : model.get("choice"));
  let [choice, options] = held(), lines;
  function button(text, act) {
    const made = html("button", { type: "button" }, text);
    made.onclick = act;
    return made;
  }
  const menus = html("form", { class: "menus", "aria-label": "What to show" }), said = html("p", { class: "status", role: "status" });
  const main = html("figure", { class: "main" }), caption = html("figcaption", {}), tip = html("p", { class: "tip" });
  const numbers = html("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": "The numbers as a table" }), python = html("pre", { tabindex: 0 });
  const [shown, listed] = [["The same numbers in Python", python], ["The numbers as a table", numbers]].map(([title, inside]) =>
    html("details", {}, html("summary", {}, title), inside));
  function copy() {
    shown.open = true;
    navigator.clipboard?.writeText(python.textContent).catch(() => {}); // a page from a folder may not; the text is in sight
  }
  const save = () => download(`${choice.study}-${choice.view}-${choice.metric}.csv`, lines);
  /** Beside its reference, the configuration of this study that is furthest from it in this metric. */
  function largest() {
    const study = studies[choice.study], minus = choice.minus === "none" ? study.reference : choice.minus;
    const size = (arm) => Math.abs(difference(study, study.end[choice.metric], arm, twin(study, arm, minus))[0]);
    const [found] = [...study.arms].sort((one, two) => size(two) - size(one));
    change({ ...choice, view: "two", a: (twin(study, found, minus) ?? found).key, b: found.key });
  }
  const presets = catalogue.presets.map(([text, state]) => button(text, () => change(state)));
  el.append(html("div", { class: "menus" }, ...presets, button("The largest difference", largest)), menus, said, main, tip, caption,
    html("div", { class: "menus" }, button("Copy as Python", copy), button("Download these numbers (CSV)", save)), shown, listed);

  function change(wanted) {
    [choice, options] = choose(catalogue, wanted);
    model.set("choice", choice);
    model.save_changes();
    if (address) history.pushState(history.state, "", toHash(catalogue, choice));
    draw();
  }
  function follow() {
    if (JSON.stringify(held()) !== JSON.stringify([choice, options])) draw(([choice, options] = held()));
  }
  if (address) addEventListener("popstate", follow);
  model.on("change:choice", follow);

  function labelled(name, label, made) {
    made.id = id + name;
    return html("div", { class: "menu" }, html("label", { for: made.id }, label), made);
  }
  /** Another study begins anew, but for the metric: half of its levels ticked would look like all of them. */
  function menu(name, { metrics, factors }) {
    const made = html("select", { name }), named = (level) => ({ study: studies[level]?.title, view: words.views[level], along: factors[level]?.label })[name];
    const text = (level) => named(level) ?? metrics[level]?.label ?? level.replaceAll("/", ", ");
    for (const [group, levels] of Map.groupBy(options[name], (level) => (name === "study" ? studies[level].group : "")))
      (group ? made.appendChild(html("optgroup", { label: group })) : made).append(...levels.map((level) => new Option(text(level), level)));
    made.value = choice[name];
    made.onchange = () => change({ ...(name === "study" ? { metric: choice.metric } : choice), [name]: made.value });
    return labelled(name, words.labels[name] ?? factors[name]?.label ?? name, made);
  }
  function slider(name) {
    const all = options[name], made = html("input", { type: "range", name, max: all.length - 1 });
    made.value = all.indexOf(choice[name]);
    made.oninput = () => drawPicture(([choice, options] = choose(catalogue, { ...choice, [name]: all[made.value] })));
    made.onchange = () => change(choice);
    return labelled(name, words.labels[name], made);
  }
  function boxes({ series, factors, styles }) {
    const made = factors[series].levels.map((value) => {
      const box = html("input", { type: "checkbox", name: series, value, id: id + value }), style = styles[value];
      box.checked = choice[series].includes(value);
      box.onchange = () => change({ ...choice, [series]: new FormData(menus).getAll(series) });
      const sample = svg("svg", { width: 34, height: 12, "aria-hidden": "true" }, path(style, "M0,6H34"), shape(style, 17, 6));
      return html("label", { class: "box" }, box, sample, `${value} ${style.about}`);
    });
    return html("fieldset", {}, html("legend", {}, factors[series].label), ...made);
  }

  function draw() {
    const active = document.activeElement?.id, study = studies[choice.study], names = ["study", "view", ...words.menus[choice.view]];
    const parts = names.flatMap((name) => (name === "cell" ? study.others.filter((one) => !(names.includes("along") && one === choice.along)) : [name]));
    menus.replaceChildren(...parts.map((name) => {
      if (name === "series") return boxes(study);
      if (["level", "step", "bend"].includes(name)) return slider(name);
      return options[name].length > 1 || name === "study" ? menu(name, study) : "";
    }));
    document.getElementById(active)?.focus();
    drawPicture();
  }
  function drawPicture() {
    const width = Math.max(280, el.clientWidth), c = context(catalogue, [choice, options], width), { study } = c;
    const { node, said: words, charts = [], rows } = PICTURES[choice.view](c), part = width > 720 ? width / charts.length - 16 : width;
    main.replaceChildren(node ?? html("div", { class: "row" }, ...charts.map((spec) => chart({ ...spec, width: part, study }))));
    main.querySelector(".arm")?.setAttribute("tabindex", 0);
    caption.textContent = `${fill(c.words.captions[choice.view], c)} Records: results/${choice.study}.`;
    said.textContent = words;
    python.textContent = code(c);
    tip.textContent = "";
    const cells = ({ x: { names }, y, points }) => points.filter(({ arm }) => arm).map(({ arm, what = y.label, x, found, p }) =>
      [...Object.values(arm.at), what, names?.[Math.round(x)] ?? x, ...[0, 1, 2, 3].map((i) => found[i]), p]);
    const about = rows ? [] : Object.keys(study.factors);
    lines = [[...about, "what", "at", "value", "low", "high", "n", "p (Holm)"], ...(rows ?? charts.flatMap(cells))];
    numbers.replaceChildren(table(lines, `${study.title}: 95% intervals, not adjusted, n seeds`));
    listed.open ||= Boolean(rows?.length);
  }

  /** Hover and keyboard: a mark's numbers below the picture; the arrow keys go from mark to mark. */
  const tell = ({ target }) => (tip.textContent = target.closest(".arm")?.getAttribute("aria-label") ?? "");
  for (const name of ["mouseover", "mouseleave", "focusin", "focusout"]) main.addEventListener(name, tell);
  main.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], marks = [...main.querySelectorAll(".arm")];
    if (!step) return;
    event.preventDefault();
    marks.at((marks.indexOf(document.activeElement) + step) % marks.length).focus();
  };
  menus.onsubmit = (event) => event.preventDefault();
  draw();
  let before = el.clientWidth;
  new ResizeObserver(() => {
    if (el.clientWidth && el.clientWidth !== before) drawPicture((before = el.clientWidth));
  }).observe(el);
  el.dataset.ready = "true";
}
