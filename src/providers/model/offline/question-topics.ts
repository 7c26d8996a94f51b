/** What a question is about, by its words, and the kinds of findings that answer it. */
import { wordSet } from '../../table/word-set.ts';

/** `judges`: whether the data can be trusted. `weak`: counts only in a question without another topic, such as the months of "is a month missing".
 * `beside`: counts only beside another topic, as "not" does. `named`: counts only for findings on a column of the question. */
export type Topic = { words: RegExp; kinds: ReadonlySet<string>; judges?: true; weak?: true; beside?: true; named?: true };

const formulaKinds =
  'formula_verdict formula_left_out formula_typed formula_text formula_stale formula_twice formula_differs formula_total formula_empty formula_error';
/** Findings that question the data, the most severe first. */
const qualityOrder =
  `${formulaKinds} total_wrong factor_error relation_broken basis outlier join_conflicts join_excess join_only join_inactive duplicate_rows duplicate_keys repeated_values near_duplicates join_repeats no_entries out_of_range negative left_out not_numbers bounds balance_broken counter_falls stuck gaps group_gaps grid_gaps number_gaps missing_rows total_empty mixed_dates mixed_units mixed_styles misspelt spelling unit_cells repeated_times far_date day_first month_first formulas zeros group_odd span_backwards without_bad addresses data_problem weight order few_rows`.split(
    ' ',
  );

/** Findings that question the data. */
export const qualityKinds: ReadonlySet<string> = new Set(qualityOrder);

/** What answers in free text say. */
export const commentKinds: ReadonlySet<string> = wordSet(
  'topic topic_low topic_high serious low_rated high_rated quotes complaints praise',
);

/** Checks that found nothing wrong. */
export const agreeingKinds: ReadonlySet<string> = new Set(['formula_agrees', 'total', 'relation', 'balance']);

/** Kinds of findings that tell one defect. */
const defectFamilies = [
  ['outlier', 'weight', 'without_bad', 'group_odd'],
  ['duplicate_rows', 'duplicate_keys', 'repeated_values', 'near_duplicates', 'join_repeats', 'repeated_times'],
  ['gaps', 'group_gaps', 'grid_gaps', 'number_gaps', 'order'],
  ['out_of_range', 'bounds', 'negative', 'left_out', 'not_numbers'],
  formulaKinds.split(' '),
];

/** The defect that a kind of finding tells; null for the notice of what the figures leave out, which repeats other findings. */
export function defectOf(kind: string): string | null {
  return kind === 'basis' ? null : (defectFamilies.find((kinds) => kinds.includes(kind))?.[0] ?? kind);
}

/** The place of a kind among those that question the data: 0 is the most severe. */
export function severityOf(kind: string): number {
  return qualityOrder.indexOf(kind);
}

/** Time that is spent: a question with such a word is not answered by a number of rows. */
export const workWords =
  /^(?:hours?|worked|working|works?|shifts?|time|longest|stunden|gearbeitet|arbeitet|arbeiten|arbeitszeit|länger|längsten?|heures?|travaillé\p{L}{0,2}|travaille\p{L}{0,2}|horas?|trabaj\p{L}{1,4}|ore|lavora\p{L}{0,3}|trabalh\p{L}{1,4}|uren|uur|gewerkt|werkt?)$/u;

const topics: readonly Topic[] = [
  {
    words:
      /^(?:trust|trusted|trustworthy|reliable|reliability|rely|believe|quality|plausible|clean|tidy|usable|verlassen|zuverlässig|vertrauen|sauber|datenqualität|fiables?|propres?|limpi[oa]s?|affidabil[ei]|pulit[aeio])$/,
    kinds: new Set([...qualityKinds, ...agreeingKinds]),
    judges: true,
  },
  {
    words: /^(?:formulas?|formeln?|formules?|fórmulas?)$/,
    kinds: wordSet(`${formulaKinds} formula_agrees formula_counted formula_unchecked formula_unstored`),
    judges: true,
  },
  {
    words: /^(?:right|correct|accurate|richtig\p{L}?|korrekt\p{L}?|correct[aeos]{1,2})$/u,
    kinds: new Set([...qualityKinds, ...agreeingKinds]),
    judges: true,
    weak: true,
  },
  // "Is the total right": whether totals and sums agree with their rows.
  {
    words:
      /^(?:right|correct|accurate|richtig\p{L}?|korrekt\p{L}?|stimmt|stimmen|exacte?s?|correct[aeos]{1,2}|giust[aeoi]|klopp\p{L}{1,3})$/u,
    kinds: new Set([...formulaKinds.split(' '), 'formula_counted', 'total', 'total_wrong', 'relation', 'relation_broken', 'total_empty']),
    judges: true,
    beside: true,
  },
  {
    words:
      /^(?:odd|wrong|strange|suspicious|suspect|impossible|implausible|unusual|outliers?|invalid|valid|sense|nonsense|anomal\p{L}{0,6}|clear|clarify|mistakes?|errors?|faulty|weird|stands?|check|auffällig\p{L}{0,3}|fehler|falsch|ungewöhnlich|seltsam|unplausibel)$/u,
    kinds: qualityKinds,
  },
  {
    words: /^(?:total|totals|altogether|overall|sum|sums|much|insgesamt|gesamt\p{L}{0,8}|summe|wieviel|worth)$/u,
    kinds: wordSet(
      'asked_period formula_verdict formula_agrees formula_total join_converted sums total total_wrong unit_figures mixed_units join_difference join_over join_product join_unpriced planned dues_open dues_total factor_error',
    ),
  },
  {
    words:
      /^(?:most|more|sells?|sold|better|worse|largest|biggest|highest|best|top|leading|leads?|least|lowest|smallest|worst|fewest|strongest|weakest|cheapest|longest|meisten?|größte\p{L}?|höchste\p{L}?|beste\p{L}?|wenigsten|niedrigste\p{L}?|kleinste\p{L}?)$/u,
    kinds: wordSet(
      'factor_error formula_rank parts subtotal_rank join_converted join_by_key group rank ratio trend join_groups leaders unit_figures level durations ratings column_means row_means',
    ),
  },
  {
    words:
      /^(?:grow|grows|growth|grew|shrink|shrinks|rise|rises|rising|rose|fall|falls|falling|fell|increase\p{L}?|decrease\p{L}?|decline\p{L}?|trends?|develop\p{L}{0,6}|changed?|changes?|steig\p{L}{0,4}|fällt|fallen|sink\p{L}{0,4}|entwick\p{L}{0,6}|wächst|wachs\p{L}{0,4})$/u,
    kinds: wordSet('factor_error step growth growth_each trend period_growth period_each change counter level join_values'),
  },
  {
    words:
      /^(?:months?|weeks?|monthly|weekly|quarters?|quarterly|daily|years?|yearly|seasons?|monate?|monatlich|wochen?|quartale?|jahre?)$/,
    kinds: wordSet('trend growth period_rows period_columns period_each rows_by_day weekday by_weekday'),
    weak: true,
  },
  {
    words: /^(?:hours?|o'clock|busiest|peak|time|stunde|uhrzeit)$/,
    kinds: wordSet('hours_of_day trend by_weekday weekday rows_by_day'),
  },
  {
    words: /^(?:missing|missed|incomplete|gaps?|empty|absent|lack\p{L}{0,4}|fehl\p{L}{0,4}|lücken?|unvollständig)$/u,
    kinds: wordSet(
      'missing no_entries missing_rows missing_group gaps grid_gaps number_gaps left_out few_filled empty_column unknown join_only join_unpriced',
    ),
  },
  {
    words: /^(?:twice|duplicates?|duplicated|doubles?|doubled|repeated|doppelt\p{L}{0,2}|duplikate?)$/u,
    kinds: wordSet('duplicate_rows duplicate_keys near_duplicates repeated_times repeated_values join_repeats'),
  },
  {
    words: /^(?:spend|spent|spending|cost|costs|costing|earn|earned|earnings|amount|amounts|ausgegeben|kostet\p{L}?|kosten)$/u,
    kinds: wordSet('asked_period factor_error join_converted join_by_key sums unit_figures mixed_units join_product join_difference group'),
  },
  {
    words: /^(?:euros?|eur|dollars?|usd|pounds?|gbp|francs?|chf|currency|currencies|währung\p{L}{0,2})$/u,
    kinds: wordSet('join_converted mixed_units'),
  },
  {
    words: /^(?:many|often|count|counts|number|frequent|share|percentage|viele|oft|anteil|häufig\p{L}{0,4})$/u,
    kinds: wordSet('group outcomes rare_state rate ratings join_groups'),
  },
  {
    words: /^(?:use|uses|used|usage|consume|consumed|consumption|verbrauch\p{L}{0,2}|verbraucht)$/u,
    kinds: wordSet('factor_error formula_rank counter sums group unit_figures'),
  },
  {
    words: /^(?:satisf\p{L}{0,8}|happy|content|rated?|ratings?|scores?|zufrieden\p{L}{0,5}|bewert\p{L}{0,5})$/u,
    kinds: wordSet('ratings promoters group join_groups sums rate'),
  },
  {
    words:
      /^(?:e?nps|promoters?|detractors?|recommend\p{L}{0,8}|weiterempf\p{L}{0,8}|empfehl\p{L}{0,6}|recommand\p{L}{0,8}|recom[ie]+nd\p{L}{0,8})$/u,
    kinds: wordSet('promoters'),
  },
  { words: /^(?:e?nps|promoters?)$/, kinds: wordSet('promoters'), beside: true },
  {
    words:
      /^(?:rais(?:es?|ed)|improve[ds]?|improvements?|helps?|helped|effects?|effective|works?|worked|wirkt\p{L}?|gewirkt|wirkung|verbessert\p{L}?)$/u,
    kinds: wordSet('change'),
  },
  {
    words:
      /^(?:attend\p{L}{0,5}|no-?shows?|turn(?:s|ed)?|absen\p{L}{1,4}|missed|shows?|showed|present|sag(?:s|ged)?|anwesen\p{L}{0,6}|présen\p{L}{0,5}|asist\p{L}{0,6})$/u,
    kinds: wordSet('outcome_rate'),
  },
  {
    words:
      /^(?:warm(?:er|est)?|cold(?:er|est)?|hot(?:ter|test)?|setpoint|deviat\p{L}{1,5}|drift(?:s|ed)?|wärmer|kälter|soll\p{L}{0,4}|abweich\p{L}{0,5}|écarts?)$/u,
    kinds: wordSet('deviation'),
    weak: true,
  },
  { words: workWords, kinds: wordSet('worked worked_by') },
  { words: /^(?:before|after|vorher|nachher)$/, kinds: wordSet('change'), weak: true },
  {
    words: /^(?:compare[ds]?|comparison|vergleich\p{L}{0,6}|compar\p{L}{0,8})$/u,
    kinds: wordSet('outcome_rate deviation promoters group trend rank level ratings durations join_groups planned'),
    weak: true,
    named: true,
  },
  {
    words:
      /^(?:complain\p{L}{0,4}|prais\p{L}{1,3}|comments?|says?|said|writes?|wrote|unhappy|sagen|schreiben|écrivent|escriben|scrivono|disent|dicen|dicono|mention\p{L}{0,3}|topics?|themes?|feedback|reviews?|kommentar\p{L}{0,2}|beschwer\p{L}{0,5}|lob\p{L}{0,2}|themen?|rückmeldung\p{L}{0,2}|commentaires?|sujets?|avis|comentarios?|temas?|opin\p{L}{1,4}|commenti|argomenti)$/u,
    kinds: commentKinds,
  },
  // Of the findings on comments, those that are asked for.
  {
    words:
      /^(?:complain\p{L}{0,4}|critici\p{L}{1,4}|dislike|beschwer\p{L}{0,5}|kritisier\p{L}{0,3}|bemängel\p{L}{0,3}|plaint\p{L}{1,3}|plaignent|quej\p{L}{1,3})$/u,
    kinds: wordSet('complaints serious topic_low low_rated'),
  },
  {
    words:
      /^(?:serious|danger\p{L}{0,4}|unsafe|safety|harm\p{L}{0,3}|injur\p{L}{1,4}|gefährlich\p{L}{0,2}|gefahr\p{L}{0,2}|schlimm\p{L}{0,2}|dangere\p{L}{1,3}|graves?|peligr\p{L}{1,4}|pericol\p{L}{1,3})$/u,
    kinds: wordSet('serious'),
  },
  { words: /^(?:prais\p{L}{1,3}|lob|loben|gelobt)$/u, kinds: wordSet('praise topic_high high_rated') },
  { words: /^(?:stuck|frozen|unchanged|constant|steht|konstant)$/, kinds: wordSet('stuck constant_column') },
  { words: /^(?:without|real|excluding|true|cleaned|ohne)$/, kinds: wordSet('without_bad weight') },
  {
    words:
      /^(?:budget\p{L}{0,4}|etat|über|presupuest\p{L}{0,5}|bilancio|begroting|orçamento|used|unused|planned|plan|target\p{L}?|over|under|overspen[dt]\p{L}{0,3}|overr[au]n|exceed\p{L}{0,3}|soll|ziel\p{L}?)$/u,
    kinds: wordSet('planned join_over join_under join_difference budget_months budget_groups budget_keys budget_covered'),
  },
  {
    words: /^(?:rest|room|left|remain\p{L}{0,4}|available|unspent|übrig|restlich\p{L}{0,2}|verbleib\p{L}{0,4})$/u,
    kinds: wordSet('budget_rest join_difference join_under'),
  },
  {
    words: /^(?:over|above|overspen[dt]\p{L}{0,3}|overr[au]n|overdrawn|overpaid|exceed\p{L}{0,3}|über\p{L}{0,12})$/u,
    kinds: wordSet('join_over'),
    beside: true,
  },
  { words: /^(?:under|below|underspen[dt]\p{L}{0,3}|unused|unter\p{L}{0,12})$/u, kinds: wordSet('join_under'), beside: true },
  // "Paid too little or too much".
  { words: /^(?:little|less|wenig|underpaid|short)$/, kinds: wordSet('join_under'), beside: true },
  { words: /^(?:overpaid|überzahlt\p{L}?)$/u, kinds: wordSet('join_over dues_over') },
  {
    words: /^(?:budget\p{L}{0,4}|overspent|exceed\p{L}{0,3})$/u,
    kinds: wordSet('budget_months budget_groups budget_keys budget_covered'),
    beside: true,
  },
  { words: /^(?:rest|room|left|remaining|available|unspent|übrig)$/u, kinds: wordSet('budget_rest'), beside: true },
  {
    words: /^(?:paid|unpaid|pay|little|less|underpaid|owes?|owed|outstanding|overdue|unbezahlt|bezahlt|offen\p{L}?|schuld\p{L}{0,3})$/u,
    kinds: wordSet('open late join_difference join_over join_under dues_open dues_nothing dues_part dues_reversed'),
  },
  {
    words: /^(?:outstanding|owes?|owed|unpaid|overdue|remaining|due|offen\p{L}?|ausstehend\p{L}?|schuld\p{L}{0,3})$/u,
    kinds: wordSet('dues_open dues_nothing dues_part'),
  },
  { words: /^(?:not|nothing|never|hasn't|haven't|nicht|nichts|nie)$/, kinds: wordSet('dues_nothing dues_reversed'), beside: true },
  {
    words: /^(?:part|parts|partly|partial|partially|instal{1,2}ments?|teil\p{L}{0,5}|raten?)$/u,
    kinds: wordSet('dues_part dues_whole'),
  },
  {
    words: /^(?:overpaid|over|too|twice|doubly|excess|überzahlt\p{L}?|überzahlung\p{L}{0,2})$/u,
    kinds: wordSet('dues_over'),
    beside: true,
  },
  { words: /^too$/, kinds: wordSet('dues_part dues_over'), beside: true },
  { words: /^(?:new|added|dropped|removed|gone|discontinued|neu\p{L}?|weggefallen\p{L}?)$/u, kinds: wordSet('join_only') },
  {
    words:
      /^(?:assign\p{L}{0,3}|unassigned|match|matched|unmatched|allocated?|attribute[ds]?|belongs?|zuordn\p{L}{0,3}|zugeordnet\p{L}?)$/u,
    kinds: wordSet('dues_unassigned'),
  },
  {
    words: /^(?:deliver\p{L}{0,5}|received?|receipts?|arrived?|geliefert\p{L}?|lieferung\p{L}{0,2})$/u,
    kinds: wordSet('dues_open dues_nothing dues_part'),
    weak: true,
  },
  { words: /^(?:paid|nobody|unknown|unmatched|neither|either|side|sides|belong|belongs|unlisted)$/, kinds: wordSet('join_only') },
  { words: /^(?:list|listed|roster|register|registered|liste)$/, kinds: wordSet('join_only') },
  { words: /^(?:valued|priced|unpriced|bewertet)$/, kinds: wordSet('join_unpriced join_product') },
  { words: /^(?:not|cannot|can't|nicht)$/, kinds: wordSet('join_unpriced'), beside: true },
  { words: /^(?:counted|countable|usable|gezählt|zählbar)$/, kinds: wordSet('join_unpriced not_numbers missing_rows left_out negative') },
  {
    words:
      /^(?:late|lateness|delayed|delays?|overdue|punctual\p{L}{0,4}|deadline\p{L}?|verspätet|verspätung\p{L}{0,2}|pünktlich\p{L}{0,4})$/u,
    kinds: wordSet('on_time late join_late open span durations'),
  },
  // Two topics, so that "on time" has more weight than the other topics of its question.
  { words: /^(?:on|in)$/, kinds: wordSet('on_time'), beside: true },
  { words: /^(?:time|promised|schedule)$/, kinds: wordSet('on_time'), beside: true },
  {
    words: /^(?:fails?|failed|failures?|failing|cancelled|canceled|returned|rejected|status|statuses)$/,
    kinds: wordSet('rare_state outcomes rate'),
  },
  {
    words:
      /^(?:slow|slowest|fast|fastest|quick|quickest|latency|schnellste\p{L}?|langsamste\p{L}?|rapides?|lents?|rápid[oa]s?|lent[oa]s?|veloc[ei])$/u,
    kinds: wordSet('durations join_durations group level span'),
  },
  {
    words: /^(?:long|longest|takes?|took|duration|durations|lasts?|lasted|dauer|dauert\p{L}?|lange)$/u,
    kinds: wordSet('durations join_durations span'),
  },
  {
    words: /^(?:open|still|unfinished|unresolved|closed|offen\p{L}?)$/u,
    kinds: wordSet('open missing_rows join_difference join_under budget_rest'),
  },
  {
    words: /^(?:per|je|pro|por|par|rate|rates|ratio|divided|geteilt|turns?|convert|converts|conversion|share|percentage)$/,
    kinds: wordSet('factor_error ratio join_groups rate group'),
    weak: true,
  },
  {
    words: /^(?:per|je|pro|por|par|ratio|rates?|quoten?|divided|geteilt|dividido|divisé|diviso)$/,
    kinds: wordSet('asked_ratio'),
    beside: true,
  },
  { words: /^(?:per|by|je|nach|pro|por|par)$/, kinds: wordSet('join_groups'), beside: true, named: true },
  {
    words: /^(?:ask|asked|query|investigate|review|nachfragen|rückfragen)$/,
    kinds: wordSet('join_excess join_conflicts join_only duplicate_rows duplicate_keys near_duplicates factor_error outlier'),
    weak: true,
  },
  {
    words: /^(?:no|none|without|kein\p{L}{0,2}|ohne|ning[uú]n\p{L}?|sin|aucun\p{L}?|sans|nessun\p{L}?|senza)$/u,
    kinds: wordSet('join_only join_inactive'),
  },
  { words: /^(?:reorder|stock|restock|nachbestell\p{L}{0,3})$/u, kinds: wordSet('stock') },
  {
    words: /^(?:agree|agrees|match|matches|differ|differs|consistent|stimmt|stimmen)$/,
    kinds: wordSet(
      'formula_verdict formula_agrees formula_total formula_stale relation relation_broken total total_wrong balance balance_broken join_only join_repeats join_values join_difference',
    ),
  },
  { words: /^(?:margin|profit|profitable|gewinn|marge)$/, kinds: wordSet('margin flows') },
  {
    words: /^(?:average|mean|averages|durchschnitt\p{L}{0,5}|mittel\p{L}{0,4})$/u,
    kinds: wordSet('sums group without_bad column_means row_means ratings durations'),
    weak: true,
  },
  {
    words: /^(?:depends?|related|relation|correlat\p{L}{0,5}|zusammenhang)$/u,
    kinds: wordSet('correlation correlation_without join_correlation'),
  },
  {
    words: /^(?:person|customer|customers|people)$/,
    kinds: wordSet('group unit_figures leaders join_groups rank late open worked_by'),
    weak: true,
  },
];

/** The topics of a question's words; the words are in lower case. */
export function topicsOf(words: readonly string[]): Topic[] {
  const found = topics.filter(({ words: pattern }) => words.some((word) => word.length < 40 && pattern.test(word)));
  const alone = found.filter(({ beside }) => beside !== true);
  const strong = alone.filter(({ weak }) => weak !== true);
  if (alone.length === 0) return [];
  return [...(strong.length > 0 ? strong : alone), ...found.filter(({ beside }) => beside === true)];
}
