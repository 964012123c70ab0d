// The ledger's filters: a search box and two menus over rows that open, which are all there without this script.
// Called once with the element that holds the rows; the state stands in the address, so that a view can be linked to.
function ledger(root) {
  const rows = [...root.querySelectorAll("details[data-verdict]")], others = root.querySelector(".others");
  const make = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const menu = (name, label) => {
    const values = [...new Set(rows.map((row) => row.dataset[name]))];
    const select = make("select", { name }, new Option("all", ""), ...values.map((value) => new Option(value, value)));
    return [select, make("label", {}, `${label} `, select)];
  };
  const search = make("input", { type: "search", name: "words", size: "24" });
  const [verdict, verdictLabel] = menu("verdict", "Verdict");
  const [source, sourceLabel] = menu("source", "Source");
  const status = make("p", { role: "status" });
  const controls = { words: search, verdict, source };

  function show() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = (!verdict.value || row.dataset.verdict === verdict.value)
        && (!source.value || row.dataset.source === source.value)
        && words.every((word) => text.includes(word));
      row.hidden = !fits;
      shown += fits;
    }
    const inside = [...others.querySelectorAll("details")].some((row) => !row.hidden);
    others.hidden = !inside;
    others.open = inside && (words.length > 0 || Boolean(verdict.value));
    status.textContent = `${shown} of ${rows.length} claims`;
  }

  function remember() {
    const state = new URLSearchParams();
    for (const [name, control] of Object.entries(controls)) if (control.value) state.set(name, control.value);
    const query = state.toString();
    try {
      history.replaceState(null, "", `${location.pathname}${query && "?"}${query}${location.hash}`);
    } catch {
      // a page opened as a file may not change its address: the filters work all the same
    }
    show();
  }

  const given = new URLSearchParams(location.search);
  for (const [name, control] of Object.entries(controls)) {
    if (given.has(name)) control.value = given.get(name);
    control.addEventListener("input", remember);
  }
  const clear = make("button", { type: "button" }, "Show all");
  clear.addEventListener("click", () => {
    for (const control of Object.values(controls)) control.value = "";
    remember();
    search.focus();
  });
  root.prepend(make("div", { class: "ledger-filters", role: "search", "aria-label": "Filter the claims" },
    make("label", {}, "Words ", search), verdictLabel, sourceLabel, clear), status);
  show();
  const unfold = () => {
    const row = rows.find((each) => `#${each.id}` === location.hash);
    for (let node = row; node && node !== root; node = node.parentElement) node.open = true;
    if (row) row.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
}
