// The choice: what is shown. The page's address holds what was chosen after #, as key=value&key=value (explorer.link).

const named = ({ key }) => key.replaceAll("/", ", ");
/** The arms whose factors but the series have some levels, or any of a free one. */
const inside = ({ arms, others }, levels, free) => arms.filter(({ at }) => others.every((name) => name === free || at[name] === levels[name]));
const select = (study, choice, free) => inside(study, choice, free).filter(({ at }) => choice[study.series].includes(at[study.series]));
/** The arm that differs from another in the series alone. */
const twin = (study, { at: levels }, level) => inside(study, levels).find(({ at }) => at[study.series] === level);

/** [a whole choice from parts of one, what else each part can be]; what does not fit gets its default, for links outlive
    records. */
function choose({ studies }, wanted) {
  const choice = {}, options = {};
  function pick(name, levels, usual = levels[0]) {
    options[name] = levels.map(String);
    return (choice[name] = options[name].includes(wanted[name]) ? wanted[name] : String(usual));
  }
  const study = studies[pick("study", Object.keys(studies))], { arms, series, factors, others, views, pairs } = study;
  const view = pick("view", Object.keys(views)), all = factors[series];
  const cell = arms.find(({ at }) => others.every((name) => (wanted[name] ?? at[name]) === at[name])) ?? arms[0];
  const reference = twin(study, cell, study.reference) ?? cell, keys = arms.map((arm) => arm.key);
  for (const name of others) pick(name, factors[name], cell.at[name]);
  pick("metric", views[view]);
  pick("minus", ["none", ...all], all.length > 1 ? study.reference : "none");
  pick("x", ["iteration", ...Object.keys(study.metrics)], "val_loss");
  pick("along", others);
  pick("level", (study.equal[choice.metric] ?? []).map((_, i) => 10 * i));
  const place = keys.indexOf(pick("a", keys, reference.key));
  pick("b", pairs.filter((pair) => pair.includes(place)).map(([i, j]) => keys[i === place ? j : i]));
  const asked = wanted[series]?.split(","), found = all.filter((level) => asked?.includes(level));
  choice[series] = found.length || asked?.join() === "" ? found : all;
  const steps = arms.flatMap((arm) => arm.drift.iteration ?? []);
  pick("step", [...new Set(steps)], Math.max(...steps));
  pick("bend", inside(study, choice).map((arm) => arm.corner).filter(known).sort((a, b) => a - b), 0.3);
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
