/** The kind of a text, by its form, and the subject of a section, by its heading. */
import { entryLines } from './log-stamps.ts';
import type { Unit } from './units.ts';

export type TextKind =
  | 'log'
  | 'e-mail'
  | 'transcript'
  | 'minutes'
  | 'timeline'
  | 'incident'
  | 'changelog'
  | 'documentation'
  | 'contract'
  | 'prose'
  | 'empty';

export type Section = 'decisions' | 'actions' | 'past' | 'questions' | 'people' | 'absent' | 'risks' | 'undecided' | '';

const sections: readonly (readonly [RegExp, Section])[] = [
  [/(?:last|previous|prior) (?:meeting|actions?|minutes)|matters arising|completed|^done$|erledigt|letzten? sitzung/i, 'past'],
  [
    /^(?:abstimmung(?:sergebnis)?|vote|scrutin|votación|votazione)$|decision|decided|resolution|^agreed|beschl[uü]ss|entscheidung|décision|decisi[oó]n|^acuerdos?$|delibera/i,
    'decisions',
  ],
  [
    /^(?:\p{L}{2,14} )?measures$|action|to-?do|to do|next steps|^tasks|follow.?ups?|assignments|who does what|responsibilities|aufgabe|^à faire|^tâches|^tareas|^compiti|^acciones|^azioni|wer macht was|zuständigkeiten|maßnahme|nächste schritte/iu,
    'actions',
  ],
  [
    /open (?:question|issue|point|item)|^questions?$|unresolved|parking lot|offene? (?:frage|punkt)|^offen$|^frage|questions? (?:ouvertes?|en suspens)|points ouverts|puntos abiertos|asuntos pendientes|punti aperti|questioni aperte/i,
    'questions',
  ],
  [/apolog|absent|regrets|entschuldigt|abwesend|excusé|ausente|excusado|assenti/i, 'absent'],
  [/attend|present$|participants|teilnehm|anwesend|^présent|^asistentes|^presentes|^presenti|partecipanti/i, 'people'],
  [/^risks?|risiken|risiko|blockers?|blocked|impediment/i, 'risks'],
  [/deferred|postponed|vertagt/i, 'undecided'],
];

/** One part of some notes may be of a meeting. */
const fewestHeadings = 3;
const meetingHeading = /^(?:\p{L}{2,14} )?(?:meeting|besprechung|(?:\p{L}{2,14})?sitzung|réunion|reunión|riunione)(?![\p{L}])/iu;

export function sectionOf(heading: string): Section {
  if (heading === '') return '';
  return sections.find(([rule]) => rule.test(heading.slice(0, 100)))?.[1] ?? '';
}

export function kindOf(units: readonly Unit[], text: string): TextKind {
  if (units.length === 0) return 'empty';
  const fields = new Set(units.filter(({ kind }) => kind === 'field').map(({ key }) => key.toLowerCase()));
  const headings = units.filter(({ kind }) => kind === 'heading').map(({ text: heading }) => heading);
  const spoken = units.filter(({ kind }) => kind === 'speech').length;
  if (
    (fields.has('from') && (fields.has('to') || fields.has('subject'))) ||
    (fields.has('von') && (fields.has('an') || fields.has('betreff')))
  )
    return 'e-mail';
  if (
    headings.filter((heading) => /^\[?v?\d{1,4}\.\d{1,4}(?:\.\d{1,4})?|^\[?unreleased/i.test(heading)).length >= 1 &&
    headings.some((heading) => /change|^added|^fixed|^\[?v?\d/i.test(heading)) &&
    /changelog|release|added|fixed|changed/i.test(text.slice(0, 4000))
  )
    return 'changelog';
  if (isIncident(text)) return 'incident';
  const named = headings.map(sectionOf).filter((section) => section !== '' && section !== 'risks').length;
  const keyed = [...fields].filter((key) =>
    [
      'present',
      'attendees',
      'participants',
      'apologies',
      'chair',
      'teilnehmer',
      'anwesend',
      'protokoll',
      'decision',
      'decisions',
      'action',
      'actions',
      'action item',
      'beschluss',
      'aufgabe',
      'next meeting',
      'absent',
      'todo',
      'regrets',
      'attending',
      'yesterday',
      'blockers',
      'gestern',
      'leitung',
      'nächste sitzung',
      'nächstes treffen',
      'teilnehmende',
      'présents',
      'excusés',
      'prochaine réunion',
      'asistentes',
      'ausentes',
      'próxima reunión',
      'presenti',
      'assenti',
      'prossima riunione',
    ].includes(key),
  ).length;
  if (spoken >= 3 && spoken >= units.length * 0.4 && named + keyed < 2) return 'transcript';
  const isMeeting =
    keyed >= 1 ||
    (headings.length >= fewestHeadings && headings.some((heading) => meetingHeading.test(heading.slice(0, 80)))) ||
    /\b(?:minutes|meeting notes|stand-?up|protokoll|besprechung|sitzung|retrospective|meeting|sync|call notes|jour fixe|compte[- ]rendu|procès-verbal|assemblée|acta|reunión|verbale|riunione|assemblea)\b/i.test(
      text.slice(0, 300),
    );
  if (!isMeeting && spoken < 3 && isTimeline(text)) return 'timeline';
  if (named >= 1 || isMeeting) return 'minutes';
  if (
    /\b(?:agreement|contract|hereinafter|hereby|lessor|licensor|party of the first|vertrag|auftragnehmer|vereinbarung zwischen)\b/i.test(
      text.slice(0, 1500),
    ) &&
    /\b(?:shall|clause|section|termination|§|kündigung)\b/i.test(text.slice(0, 20_000))
  )
    return 'contract';
  if (
    /\b(?:terms and conditions|terms of (?:use|service|sale|hire)|general (?:terms|conditions)|geschäftsbedingungen|conditions générales|condiciones generales|condizioni generali)\b/i.test(
      text.slice(0, 300),
    )
  )
    return 'contract';
  if (
    headings.some((heading) => /install|usage|getting started|requirements|configuration|license|quick ?start|prerequisites/i.test(heading))
  )
    return 'documentation';
  return spoken >= 3 ? 'transcript' : 'prose';
}

/** A report on an outage or an accident: so named at its top, with several clock times. */
function isIncident(text: string): boolean {
  const times = text.slice(0, 20_000).match(/(?<![\p{N}:.,])\d{1,2}:\d{2}(?![:\p{N}])/gu) ?? [];
  const isMeeting = /(?<![\p{L}])(?:minutes of|meeting|protokoll|sitzung)(?![\p{L}])/iu.test(text.slice(0, 300));
  return (
    times.length >= 4 &&
    !isMeeting &&
    /(?<![\p{L}])(?:incident|outage|post-?mortem|disruption|störung|ausfall|vorfall)/iu.test(text.slice(0, 300))
  );
}

/** Whether the text is a logbook whose entries have a time of the day: "**09:31** The alarm rings". */
function isTimeline(text: string): boolean {
  const timed = [...entryLines(text.split('\n'), () => false).values()].filter(({ time }) => time !== null);
  return timed.length >= 3;
}
