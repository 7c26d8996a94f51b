/** People in a text, present and absent, other names, and sentences that quote somebody. */
import { add } from './fact-list.ts';
import type { TextFacts } from './facts.ts';
import { findGermanNames, isGerman } from './german-names.ts';
import { stampOf } from './log-stamps.ts';
import { findOtherNames, findPeople, isEnglish, isFirstName, isNameLike, listedPeople } from './names.ts';
import { sectionOf } from './text-kind.ts';
import type { Unit } from './units.ts';

export function people(facts: TextFacts, unit: Unit): void {
  const { line, text, key, kind } = unit;
  const section = kind === 'field' ? sectionOf(key) : sectionOf(unit.section);
  const list = section === 'absent' ? facts.absent : facts.people;
  const { present, missing } = section === 'people' && kind !== 'row' ? attendance(text) : { present: text, missing: '' };
  if ((section === 'people' || section === 'absent') && kind !== 'row')
    for (const name of listedPeople(present)) add(list, { text: name, line });
  for (const name of listedPeople(missing)) add(facts.absent, { text: name, line });
  if (
    kind === 'field' &&
    /^(?:from|to|cc|von|an|chair|minutes|minute taker|note taker|leitung|moderation|vorsitz|protokoll|protokollant|author|owner|présidente?|secrétaire|president[ea]|secretari[oa]|segretari[oa]|verbalista)$/i.test(
      key,
    )
  )
    for (const name of listedPeople(text.replaceAll('"', '')))
      if (isFirstName(name.split(' ')[0]!) || name.includes(' ')) add(facts.people, { text: name, line });
  if (kind === 'speech' && isNameLike(key) && !facts.people.some((person) => person.text === key)) add(facts.people, { text: key, line });
  for (const name of findPeople(text))
    if (!facts.people.some((person) => person.text === name) && !facts.absent.some((person) => person.text === name))
      add(facts.people, { text: name, line });
}

const apologies = /(?:^|[.;,] )(?:with )?(?:apologies|absent|excused|regrets|not present|entschuldigt|abwesend)(?: from)?:? /i;

/** "Anna, Ben. Apologies: Cem": those present, and those who are not. */
function attendance(text: string): { present: string; missing: string } {
  const read = text.slice(0, 4000);
  const found = apologies.exec(read);
  return found === null
    ? { present: read, missing: '' }
    : { present: read.slice(0, found.index), missing: read.slice(found.index + found[0].length) };
}

const uncounted =
  /(?<![\p{L}])(?:guests?|observers?|without (?:a )?vote|non-voting|advisors?|visitors?|Gäste|Gast|ohne Stimmrecht|beratend)(?![\p{L}])/iu;
const inFigures =
  /^(\d{1,5}) (?:of (?:the )?\d{1,5} )?(?:voting |eligible |active |stimmberechtigte )?(?:members|people|persons|delegates|shareholders|owners|Mitglieder|Personen|Delegierte)(?![\p{L}])/iu;

/** How many people the text names as present, all of whom may vote; null where it does not say so or names guests among them. */
export function presentIn(units: readonly Unit[]): TextFacts['present'] {
  const named = units.filter(
    ({ kind, key }) =>
      kind === 'field' &&
      /^(?:present|attendees|attending|participants|in attendance|présents|asistentes|presentes|presenti|partecipanti|anwesend|teilnehme\p{L}{0,6})$/iu.test(
        key,
      ),
  );
  const [list] = named;
  if (list === undefined || named.length > 1 || uncounted.test(list.text)) return null;
  const { present } = attendance(list.text);
  const figure = inFigures.exec(present)?.[1];
  const count = figure === undefined ? listedPeople(present).length : Number(figure);
  // A chair or a minute taker in a line of their own may not be on the list.
  const others = units.filter(
    ({ kind, key }) =>
      kind === 'field' &&
      /^(?:chair|minutes|minute taker|note taker|leitung|vorsitz|moderation|protokoll\p{L}{0,5}|présidente?|secrétaire|president[ea]|secretari[oa]|segretari[oa])$/iu.test(
        key,
      ),
  );
  const isListed = others.every(({ text }) => listedPeople(text).every((name) => present.includes(name)));
  return count === 0 || (figure === undefined && !isListed) ? null : { count, line: list.line };
}

const saying =
  /(?<![\p{L}])(?:said|says|told|asked|added|called|replied|nannte|explained|wrote|warned|announced|sagte|sagt|erklärte|so|betonte|teilte|dit|a dit|déclare|déclaré|affirme|explique|expliqué|estime|selon|dice|dijo|declaró|afirma|afirmó|explicó|según|ha detto|ha dichiarato|afferma|commenta|racconta|sostiene|spiega|secondo)(?![\p{L}])/iu;

/** Names on their own, and sentences that quote a person. */
export function namesAndQuotes(facts: TextFacts, units: readonly Unit[], text: string): void {
  const english = isEnglish(text);
  const german = !english && isGerman(text);
  const people = new Set([...facts.people, ...facts.absent].flatMap(({ text: name }) => [name, ...name.split(' ')]));
  let before: TextFacts['spoken'][number] | null = null;
  for (const { kind, text: words, line } of units) {
    if (kind !== 'sentence' && kind !== 'item') continue;
    if (/["“„«]/.test(words)) {
      const last = facts.spoken.at(-1);
      if (saying.test(words.slice(0, 2000))) add(facts.spoken, { text: words, line });
      // "'You could cross it,' said Fiona Tait. 'Today you need boots.'": the same speaker goes on.
      else if (last !== undefined && last === before && /^["“„«]/.test(words)) last.text += ` ${words}`;
    }
    before = facts.spoken.at(-1)?.text.endsWith(words) === true ? facts.spoken.at(-1)! : null;
    if (!english && !german) continue;
    // The weekday of an entry's stamp is no name.
    const said = facts.logbook === null ? words : (stampOf(words)?.rest ?? words);
    for (const name of english ? findOtherNames(said) : findGermanNames(said)) {
      if (people.has(name) || name.split(' ').every((word) => people.has(word)) || facts.otherNames.some((known) => known.text === name))
        continue;
      const person = [...people].find((each) => each.includes(' ') && name.includes(each));
      if (person !== undefined) {
        // "Analyst Hannah Weiss of Borealis Bank": the text after the person.
        const rest = name.slice(name.indexOf(person) + person.length).replace(/^ (?:of|from|von|der|at) /, '');
        if (/^\p{Lu}/u.test(rest) && !facts.otherNames.some((known) => known.text === rest)) add(facts.otherNames, { text: rest, line });
        continue;
      }
      add(facts.otherNames, { text: name, line });
    }
  }
}
