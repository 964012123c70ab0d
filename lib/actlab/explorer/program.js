// The program: menus, the chosen picture, its table and its Python, on the published page and in a live notebook.

/** anywidget's entry point: `model` has get, set, save_changes and on. */
function render({ model, el }) {
  const catalogue = model.get("catalogue"), { studies, words } = catalogue;
  el.classList.add("actlab-explorer");
  if (!Object.keys(studies).length) return el.append(words.said.empty);
  el.innerHTML = FRAME;
  const [presets, menus, said, main, tip, caption, python, numbers] =
    [".presets", "form", ".status", "figure", ".tip", "figcaption", "pre", ".numbers"].map((name) => el.querySelector(name));
  let wanted, choice, options, lines, drawn;
  menus.onsubmit = (event) => event.preventDefault();
  menus.onchange = ({ target }) => change(asked(target));
  menus.oninput = ({ target }) => target.type === "range" && drawPicture(([choice, options] = choose(catalogue, asked(target))));
  el.querySelector(".copy").onclick = () => {
    python.parentElement.open = true;
    navigator.clipboard?.writeText(python.textContent).catch(() => {}); // a page from a folder may not; the text is in sight
  };
  el.querySelector(".csv").onclick = () => download(`${choice.study}-${choice.view}-${choice.metric}.csv`, lines);
  const button = (text, onclick) => presets.append(html("button", { type: "button", onclick }, text));
  for (const [text, state] of catalogue.presets) button(text, () => change(state));
  button("The largest difference", () => { // from the study's reference, in this metric; a significant one before the others
    const study = studies[choice.study], minus = study.reference, arms = study.arms.filter(({ at }) => at[study.series] !== minus);
    const found = largest(atEnd({ ...context(catalogue, [choice, options]), arms, minus }));
    change({ ...wanted, view: "two", ...(found && { a: twin(study, found.arm, minus).key, b: found.arm.key }) });
  });

  function change(asked) {
    model.set("choice", { study: choice.study, ...asked });
    model.save_changes();
  }
  function follow() {
    const asked = model.get("choice"), [[, first] = []] = catalogue.presets; // nothing is asked for: the first finding
    [choice, options] = choose(catalogue, (wanted = Object.keys(asked).length ? asked : (first ?? {})));
    draw();
  }
  model.on("change:choice", follow);

  /** Another study begins anew, but for the metric: half of its levels ticked would look like all of them. */
  function asked({ name, type }) {
    const common = name === "study" ? { metric: choice.metric } : wanted, value = new FormData(menus).getAll(name).join();
    return { ...common, [name]: type === "range" ? options[name][value] : value };
  }
  function menu(name, { factors, names }) {
    const about = (level) => (name === "study" ? studies[level] : { title: (name in factors ? level : names[level]) ?? level.replaceAll("/", ", ") });
    const parts = [...Map.groupBy(options[name], (level) => about(level).group)].flatMap(([label, levels]) => {
      const made = levels.map((level) => new Option(about(level).title, level));
      return label ? html("optgroup", { label }, ...made) : made;
    });
    return html("select", { name, value: choice[name] }, ...parts);
  }
  function slider(name) {
    return html("input", { type: "range", name, max: options[name].length - 1, value: options[name].indexOf(choice[name]) });
  }
  function boxes({ series: name, factors, styles, names }) {
    const made = factors[name].map((value) => {
      const box = html("input", { type: "checkbox", name, value, checked: choice[name].includes(value) }), style = styles[value];
      const sample = svg("svg", { width: 34, height: 12, "aria-hidden": "true" }, path(style, "M0,6H34"), shape(style, 17, 6));
      return html("label", { className: "box" }, box, sample, value);
    });
    return html("fieldset", {}, html("legend", {}, names[name]), ...made);
  }

  function draw() {
    const study = studies[choice.study], place = [...menus.elements].indexOf(document.activeElement), names = ["study", "view", ...words.menus[choice.view]];
    const parts = names.flatMap((name) => (name === "cell" ? study.others : name)).filter((name) => name !== choice.along || !names.includes("along"));
    menus.replaceChildren(...parts.map((name) => {
      if (name === "series") return boxes(study);
      if (options[name].length < 2 && name !== "study") return "";
      const made = (["level", "step", "bend"].includes(name) ? slider : menu)(name, study);
      return html("label", { className: "menu" }, words.labels[name] ?? study.names[name] ?? name, made);
    }));
    menus.elements[place]?.focus();
    drawPicture();
  }
  function drawPicture() {
    drawn = el.clientWidth;
    const width = Math.max(280, drawn), c = context(catalogue, [choice, options]), { study } = c;
    const { nodes, said: words, charts = [], rows } = PICTURES[choice.view](c), part = width > 720 ? (width + 16) / charts.length - 16 : width;
    main.replaceChildren(html("div", { className: "pictures" }, ...(nodes ?? charts.map((spec) => chart({ ...spec, width: part, study })))));
    main.querySelector(".arm")?.setAttribute("tabindex", 0);
    caption.textContent = `${fill(c.words.captions[choice.view], c)} Records: results/${choice.study}.`;
    said.textContent = words;
    python.textContent = code(c);
    tip.textContent = "";
    const cells = ({ x: { names }, y, points }) => points.map(({ arm, what = y.label, x, found }) =>
      [...Object.values(arm.at), what, names?.[Math.round(x)] ?? x, ...found]);
    const about = rows ? [] : Object.keys(study.factors);
    lines = [[...about, "what", "at", "value", "low", "high", "n", "p (Holm)"], ...(rows ?? charts.flatMap(cells))];
    numbers.replaceChildren(table(lines, `${study.title}: 95% intervals, not adjusted, n seeds`));
    numbers.parentElement.open ||= rows?.length > 0;
  }

  /** Hover and keyboard: a mark's numbers below the picture; the arrow keys go from mark to mark. */
  const tell = ({ target }) => (tip.textContent = target.closest(".arm")?.getAttribute("aria-label") ?? "");
  main.addEventListener("mouseover", tell);
  main.addEventListener("focusin", tell);
  main.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], marks = [...main.querySelectorAll(".arm")];
    if (!step) return;
    event.preventDefault();
    marks.at((marks.indexOf(document.activeElement) + step) % marks.length).focus();
  };
  follow();
  new ResizeObserver(() => el.clientWidth === drawn || drawPicture()).observe(el);
  el.dataset.ready = "true";
}
