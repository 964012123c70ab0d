// The choice: what is shown. The page's address holds what was chosen after #, as key=value&key=value (explorer.link).

/** The arms whose factors but the series have the chosen levels, or any of a free one. */
const inside = ({ arms, others }, choice, free) =>
  Object.values(arms).filter(({ at }) => others.every((name) => name === free || at[name] === choice[name]));
/** The arm that differs from another in the series alone. */
const twin = ({ arms, series }, { at }, level) => arms[Object.values({ ...at, [series]: level }).join("/")];

/** [a whole choice from parts of one, what else each part can be]; what does not fit gets its default, for links outlive
    records. */
function choose({ studies }, wanted) {
  const choice = {}, options = {};
  function pick(name, levels, usual = levels[0]) {
    options[name] = levels;
    return (choice[name] = levels.includes(wanted[name]) ? wanted[name] : usual);
  }
  const study = studies[pick("study", Object.keys(studies))], { arms, series, others, views, pairs } = study, every = Object.values(arms);
  const cell = every.find(({ at }) => others.every((name) => (wanted[name] ?? at[name]) === at[name])) ?? every[0];
  for (const [name, levels] of Object.entries(study.options)) pick(name, levels, cell.at[name] ?? study.usual[name]);
  pick("metric", views[pick("view", Object.keys(views))]);
  pick("along", others);
  const a = pick("a", Object.keys(arms), (twin(study, cell, study.reference) ?? cell).key);
  pick("b", Object.keys(pairs[a]));
  const ticked = wanted[series]?.split(","), found = options[series].filter((level) => ticked?.includes(level));
  choice[series] = found.length || wanted[series] === "" ? found : options[series];
  return [choice, options];
}

/** The published page's place of anywidget's model: its address holds the choice. */
const addressed = (catalogue) => ({
  get: (name) => (name === "catalogue" ? catalogue : Object.fromEntries(new URLSearchParams(location.hash.slice(1)))),
  set(_, choice) {
    history.pushState(history.state, "", `#${new URLSearchParams(choice)}`.replaceAll("%2C", ",").replaceAll("%2F", "/"));
    this.follow();
  },
  save_changes() {},
  on(_, follow) {
    addEventListener("popstate", (this.follow = follow));
  },
});
