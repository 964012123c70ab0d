// What is chosen, and which arms that selects: the rules of actlab/explore.py (Study.choose, Study.select), lenient where those raise,
// because a link may be older than the records.

/** A whole choice from parts of one ({study, metric, along, <series>: [levels], <factor>: level}); what does not fit gets its default. */
export function choose(catalogue, wanted = {}) {
  const names = Object.keys(catalogue.studies);
  const name = names.includes(wanted.study) ? wanted.study : names[0];
  const study = catalogue.studies[name];
  const others = Object.keys(study.factors).filter((factor) => factor !== study.series);
  const one = (value, known) => (known.includes(value) ? value : known[0]);
  const all = study.factors[study.series].levels;
  const listed = [wanted[study.series] ?? []].flat();
  const series = all.filter((level) => listed.includes(level));
  return {
    study: name,
    metric: one(wanted.metric, Object.keys(study.metrics)),
    along: one(wanted.along, others),
    [study.series]: series.length || wanted[study.series]?.length === 0 ? series : all,
    ...Object.fromEntries(others.map((factor) => [factor, one(wanted[factor], study.factors[factor].levels)])),
  };
}

/** The arms of a choice: every level along the axis, the chosen level of every other factor, the chosen series; in that order. */
export function select(study, choice) {
  const fixed = Object.keys(study.factors).filter((factor) => factor !== study.series && factor !== choice.along);
  const place = (arm, factor) => study.factors[factor].levels.indexOf(arm.at[factor]);
  return study.arms
    .filter((arm) => choice[study.series].includes(arm.at[study.series]) && fixed.every((factor) => arm.at[factor] === choice[factor]))
    .sort((a, b) => place(a, choice.along) - place(b, choice.along) || place(a, study.series) - place(b, study.series));
}

/** Those of them that the detailed pictures show: the chosen level along the axis too. */
export function focus(arms, choice) {
  return arms.filter((arm) => arm.at[choice.along] === choice[choice.along]);
}

/** The choice that the page's address holds. */
export function fromAddress(address) {
  const found = Object.fromEntries(new URL(address).searchParams);
  for (const [name, value] of Object.entries(found)) if (value.includes(",")) found[name] = value.split(",");
  return found;
}

/** The address of the page with a choice in its query; defaults are left out. */
export function toAddress(address, catalogue, choice) {
  const url = new URL(address);
  const usual = choose(catalogue, { study: choice.study });
  const keys = new Set(Object.values(catalogue.studies).flatMap((study) => Object.keys(study.factors)));
  for (const key of ["study", "metric", "along", ...keys]) url.searchParams.delete(key);
  for (const [key, value] of Object.entries(choice)) {
    if (String(value) !== String(usual[key]) || (key === "study" && value !== Object.keys(catalogue.studies)[0])) {
      url.searchParams.set(key, String(value));
    }
  }
  return url.href.replaceAll("%2C", ",");
}
