// The ledger's filters: a form over rows that open, which are all there without this script.
// Called once with the element that holds both; the state stands in the address, so that a view can be linked to.
function ledger(root) {
  const rows = [...root.querySelectorAll("details[data-verdict]")], others = root.querySelector(".others");
  const form = root.querySelector("form"), { words, verdict, source } = form.elements;

  function show() {
    const asked = words.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = [verdict, source].every(({ name, value }) => !value || row.dataset[name] === value);
      row.hidden = !fits || !asked.every((word) => text.includes(word));
    }
    others.hidden = !others.querySelector("details:not([hidden])");
    others.open ||= !others.hidden && Boolean(words.value.trim() || verdict.value);
    const shown = rows.filter((row) => !row.hidden).length;
    root.querySelector("[role=status]").textContent = `${shown} of ${rows.length} claims`;
  }

  for (const [name, value] of new URLSearchParams(location.search)) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  form.oninput = () => {
    show();
    try {
      const chosen = [...new FormData(form)].filter(([, value]) => value);
      history.replaceState(null, "", `?${new URLSearchParams(chosen)}${location.hash}`);
    } catch {
      // a page opened as a file may not change its address: the filters work all the same
    }
  };
  form.onsubmit = (event) => event.preventDefault();
  form.onreset = () => {
    setTimeout(form.oninput); // after the values are reset
    words.focus();
  };
  form.hidden = false;
  show();
}
