// The ledger's filters: a form over rows that open, which are all there without this script.
// Called once with the element that holds both; the state stands in the address, so that a view can be linked to.
function ledger(root) {
  const rows = [...root.querySelectorAll("details[data-verdict]")], others = root.querySelector(".others");
  const form = root.querySelector("form"), { words, verdict, source } = form.elements;

  function show() {
    const asked = words.value.toLowerCase().split(/\s+/), menus = [verdict, source];
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = menus.every(({ name, value }) => !value || row.dataset[name] === value);
      row.hidden = !fits || !asked.every((word) => text.includes(word));
    }
    others.hidden = !others.querySelector("details:not([hidden])");
    others.open = !others.hidden && Boolean(words.value.trim() || verdict.value);
    const shown = rows.filter((row) => !row.hidden).length;
    root.querySelector("[role=status]").textContent = `${shown} of ${rows.length} claims`;
  }

  function remember() {
    const address = new URL(location), chosen = [...new FormData(form)].filter(([, value]) => value);
    address.search = new URLSearchParams(chosen);
    try {
      history.replaceState(null, "", address);
    } catch {
      // a page opened as a file may not change its address: the filters work all the same
    }
    show();
  }

  for (const [name, value] of new URLSearchParams(location.search)) {
    const control = form.elements.namedItem(name);
    if (control) control.value = value;
  }
  form.oninput = remember;
  form.onsubmit = (event) => event.preventDefault();
  form.querySelector("button").onclick = () => {
    form.reset();
    remember();
    words.focus();
  };
  form.hidden = false;
  show();
  const unfold = () => {
    const row = rows.find((each) => `#${each.id}` === location.hash);
    for (let node = row; node && node !== root; node = node.parentElement) node.open = true;
    row?.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
}
