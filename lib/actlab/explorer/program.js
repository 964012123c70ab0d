// The program: menus, the chosen picture, its table and its Python, on the published page and in a live notebook.

/** anywidget's entry point: `model` has get, set, save_changes and on. */
function render({ model, el }) {
  const catalogue = model.get("catalogue"), { studies, words, presets } = catalogue;
  el.classList.add("actlab-explorer");
  if (!Object.keys(studies).length) return el.append(words.said.empty);
  el.innerHTML = FRAME;
  const [buttons, menus, said, main, tip, caption, copy, csv, inPython, python, asTable, numbers] = el.querySelectorAll("[data-part]");
  let wanted, choice, options, c, lines, drawn;
  menus.onsubmit = (event) => event.preventDefault();
  menus.onchange = ({ target }) => change(asked(target));
  menus.oninput = ({ target }) => target.type === "range" && drawPicture(asked(target));
  copy.onclick = () => {
    inPython.open = true;
    navigator.clipboard?.writeText(python.textContent).catch(() => {}); // a page from a folder may not; the text is in sight
  };
  csv.onclick = () => download(`${choice.study}-${choice.view}-${choice.metric}.csv`, lines);
  const button = (text, onclick) => buttons.append(html("button", { type: "button", onclick }, text));
  for (const [text, state] of presets) button(text, () => change(state));
  button("The largest difference", () => { // from the study's reference, in this metric; a significant one before the others
    const { arms, series, reference: minus } = c, shown = Object.values(arms).filter(({ at }) => at[series] !== minus);
    const found = largest(marks({ ...c, shown, minus }, "end"));
    change({ ...wanted, view: "two", ...(found && { a: twin(c, found.arm, minus).key, b: found.arm.key }) });
  });

  function change(asked) {
    model.set("choice", { study: choice.study, ...asked });
    model.save_changes();
  }
  /** Another study begins anew, but for the metric: half of its levels ticked would look like all of them. */
  function asked({ name, type }) {
    const common = name === "study" ? { metric: choice.metric } : wanted, value = new FormData(menus).getAll(name).join();
    return { ...common, [name]: type === "range" ? options[name][value] : value };
  }

  function menu(name) {
    const text = (level) => (name === "study" ? studies[level].title : (c.names[level] ?? level.split("/").map(c.spoken).join(", ")));
    const made = html("select", { name });
    for (const [label, levels] of Map.groupBy(options[name], (level) => name === "study" && studies[level].group)) {
      const parts = levels.map((level) => new Option(text(level), level));
      made.append(...(label ? [html("optgroup", { label }, ...parts)] : parts));
    }
    made.value = choice[name];
    return made;
  }
  const slider = (name) => html("input", { type: "range", name, max: options[name].length - 1, value: options[name].indexOf(choice[name]) });
  function boxes(name) {
    const made = options[name].map((value) => {
      const box = html("input", { type: "checkbox", name, value, checked: choice[name].includes(value) }), style = c.styles[value];
      const sample = svg("svg", { width: 34, height: 12, "aria-hidden": "true" }, path(style, "M0,6H34"), shape(style, 17, 6));
      return html("label", { className: "box" }, box, sample, c.spoken(value));
    });
    return html("fieldset", {}, html("legend", {}, c.names[name]), ...made);
  }

  function follow() {
    const asked = model.get("choice"), place = [...menus.elements].indexOf(document.activeElement);
    drawPicture((wanted = Object.keys(asked).length || !presets.length ? asked : presets[0][1])); // nothing is asked for: the first finding
    const { others, series, names } = c, parts = ["study", "view", ...words.menus[choice.view]].flatMap((name) => (name === "cell" ? others : name));
    menus.replaceChildren(...parts.map((name) => {
      if (name === "series") return boxes(series);
      if (name === c.free || (options[name].length < 2 && name !== "study")) return "";
      const made = ["level", "step", "bend"].includes(name) ? slider(name) : menu(name);
      return html("label", { className: "menu" }, words.labels[name] ?? names[name] ?? name, made);
    }));
    menus.elements[place]?.focus();
  }
  model.on("change:choice", follow);

  function drawPicture(asked) {
    [choice, options] = choose(catalogue, asked);
    drawn = el.clientWidth;
    c = context(catalogue, choice, options);
    const { text, charts = [], rows, said: filled } = PICTURES[choice.view](c), room = Math.max(280, drawn);
    const width = room > 720 ? (room + 16) / charts.length - 16 : room;
    if (text) main.innerHTML = text;
    else main.replaceChildren(...charts.map((one) => chart({ ...one, width })));
    main.querySelector(".arm")?.setAttribute("tabindex", 0);
    caption.textContent = `${fill(words.captions[choice.view], c)} Records: results/${choice.study}.`;
    said.textContent = fill(words.said[choice.view], { ...c, ...filled });
    python.textContent = code(c);
    tip.textContent = "";
    const cells = ({ x: { names }, y, points }) => points.map(({ arm, what = y.label, x, found }) =>
      [...Object.values(arm.at), what, names?.[Math.round(x)] ?? x, ...found]);
    lines = [[...(rows ? [] : Object.keys(Object.values(c.arms)[0].at)), "what", "at", "value", "low", "high", "n", "p (Holm)"], ...(rows ?? charts.flatMap(cells))];
    numbers.replaceChildren(table(lines, `${c.title}: 95% intervals, not adjusted, n seeds`));
    asTable.open ||= Boolean(rows);
  }

  /** Hover and keyboard: a mark's numbers below the picture; the arrow keys go from mark to mark. */
  for (const event of ["mouseover", "focusin"])
    main.addEventListener(event, ({ target }) => (tip.textContent = target.closest(".arm")?.getAttribute("aria-label") ?? ""));
  main.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], marks = [...main.querySelectorAll(".arm")];
    if (!step) return;
    event.preventDefault();
    marks.at((marks.indexOf(document.activeElement) + step) % marks.length).focus();
  };
  follow();
  new ResizeObserver(() => el.clientWidth === drawn || drawPicture(wanted)).observe(el);
  el.dataset.ready = "true";
}
