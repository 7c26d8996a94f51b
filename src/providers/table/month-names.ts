/** Names of months in English, German, French, Spanish, Italian, Portuguese and Dutch. */
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const germanMonths: Record<string, number> = { mär: 3, mrz: 3, mai: 5, okt: 10, dez: 12 };
const fullMonths = new Set(
  (
    'january february march april may june july august september october november december sept ' +
    'januar februar märz mai juni juli oktober dezember'
  ).split(' '),
);
const foreignMonths = new Map(
  [
    'janv janvier ene enero gen gennaio janeiro januari',
    'févr fév fevr fev février fevrier febrero febbraio fevereiro februari',
    'mars marzo março marco mrt maart',
    'avr avril abr abril aprile',
    'mayo mag maggio maio mei',
    'juin junio giu giugno junho',
    'juil juillet julio lug luglio julho',
    'aoû aout août ago agosto augustus',
    'sept septembre septiembre setiembre set settembre setembro',
    'octobre octubre ott ottobre out outubro',
    'novembre noviembre novembro',
    'déc décembre decembre dic diciembre dicembre dez dezembro',
  ].flatMap((names, i) => names.split(' ').map((name): [string, number] => [name, i + 1])),
);

/** 1 to 12 for the name of a month in English or German, full or abbreviated; 0 for any other word. */
export function monthOfName(word: string): number {
  const lower = word.trim().toLowerCase().replace(/\.$/, '');
  if (lower.length < 3 || lower.length > 9) return 0;
  const short = lower.slice(0, 3);
  const month = germanMonths[short] ?? months.indexOf(short) + 1;
  return month > 0 && (lower.length === 3 || fullMonths.has(lower)) ? month : 0;
}

/** 1 to 12 for a month; 0 for any other word. Some foreign names are words of other languages, so one alone may be no month. */
export function monthNumber(word: string): number {
  return monthOfName(word) || (foreignMonths.get(word.trim().toLowerCase().replace(/\.$/, '')) ?? 0);
}
