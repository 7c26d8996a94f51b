/** Shortens a profile to the size of a tool's result: groups first, then the least important parts. `trimmed` names the omitted parts. */
import type { GroupProfile, TableProfile } from './table-profile.ts';

type Step = (profile: TableProfile) => string | null;

/** Largest share of the lists within a JSON file. */
const nestedShare = 0.5;
const maxFindingChars = 700;
/** Values of a group with the largest sums, and as many with the largest means, that a shortened list keeps of each figure. */
export const largestKept = 3;

const steps: Step[] = [
  (profile) => keepFindings(profile, 40),
  (profile) => keepGroupValues(profile, 20),
  (profile) => keepGroupings(profile, 4),
  (profile) => keepGroupValues(profile, 10),
  (profile) => keepGroupings(profile, 2),
  (profile) => keepTrend(profile, 60),
  (profile) => keepFrequent(profile, 4),
  (profile) => dropContext(profile),
  (profile) => keepFindings(profile, 15),
  (profile) => keepGroupings(profile, 0),
  (profile) => dropTrend(profile),
  (profile) => keepColumns(profile, 100),
  (profile) => keepColumns(profile, 40),
  (profile) => keepColumns(profile, 15),
  (profile) => keepColumns(profile, 5),
];

/** The profile, or a shortened one whose JSON has at most `maxBytes` in UTF-8. */
export function fitProfile(profile: TableProfile, maxBytes: number): TableProfile {
  const fitted = structuredClone(profile);
  for (const finding of fitted.remarks)
    if (finding.text.length > maxFindingChars) finding.text = `${finding.text.slice(0, maxFindingChars - 1)}…`;
  const room = Math.floor((maxBytes * nestedShare) / Math.max(fitted.nested.length, 1));
  fitted.nested = fitted.nested.map((each) => fitProfile(each, room));
  for (const step of steps) {
    if (Buffer.byteLength(JSON.stringify(fitted)) <= maxBytes) break;
    const note = step(fitted);
    if (note !== null) fitted.trimmed.push(note);
  }
  return fitted;
}

function keepFindings(profile: TableProfile, most: number): string | null {
  const left = profile.remarks.splice(most).length;
  return left > 0 ? `remarks: ${left} of the last kinds` : null;
}

function keepGroupValues(profile: TableProfile, most: number): string | null {
  const isLong = profile.groups.some(({ values }) => values.length > most);
  for (const group of profile.groups) {
    const kept = shortened(group.values, most);
    if (kept.length < group.values.length) group.shortened = true;
    group.values = kept;
  }
  return isLong ? `groups: only the ${most} values with most rows and those with the largest figures are listed` : null;
}

/** The values with most rows, and of each figure those with the largest sums and means, in the order that they have. */
function shortened(values: GroupProfile['values'], most: number): GroupProfile['values'] {
  if (values.length <= most) return values;
  const kept = new Set(values.slice(0, most));
  for (const name of new Set(values.flatMap(({ figures }) => Object.keys(figures)))) {
    const known = values.filter(({ figures }) => figures[name] !== undefined);
    for (const figure of ['sum', 'mean'] as const)
      for (const value of known.toSorted((a, b) => b.figures[name]![figure] - a.figures[name]![figure]).slice(0, largestKept))
        kept.add(value);
  }
  return values.filter((value) => kept.has(value));
}

function keepGroupings(profile: TableProfile, most: number): string | null {
  const left = profile.groups.splice(most).map(({ by }) => by);
  return left.length > 0 ? `groups by ${left.join(', ')} are left out` : null;
}

function keepTrend(profile: TableProfile, most: number): string | null {
  if (profile.trend === null || profile.trend.points.length <= most) return null;
  profile.trend.points = profile.trend.points.slice(-most);
  return `trend: only the last ${most} periods are listed`;
}

function dropTrend(profile: TableProfile): string | null {
  if (profile.trend === null) return null;
  profile.trend = null;
  return 'the trend is left out';
}

function keepFrequent(profile: TableProfile, most: number): string | null {
  for (const column of profile.columns) column.frequent?.splice(most);
  return `frequent values: only ${most} for each column`;
}

function dropContext(profile: TableProfile): string | null {
  for (const { numbers } of profile.columns) for (const outlier of numbers?.outliers.most_extreme ?? []) outlier.cells = {};
  return 'the rows of outliers are named by number only';
}

function keepColumns(profile: TableProfile, most: number): string | null {
  const left = profile.columns.splice(most);
  return left.length > 0 ? `columns: only the first ${profile.columns.length} of ${profile.column_count} are described` : null;
}
