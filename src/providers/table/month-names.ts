/** Names of months in English, German, French, Spanish, Italian, Portuguese and Dutch. */
import { monthOfName } from './date-format.ts';

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

/** 1 to 12 for a month; 0 for any other word. Some foreign names are words of other languages, so one alone may be no month. */
export function monthNumber(word: string): number {
  return monthOfName(word) || (foreignMonths.get(word.trim().toLowerCase().replace(/\.$/, '')) ?? 0);
}
