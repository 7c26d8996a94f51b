/** Words of questions in English, German, French, Spanish and Italian that say which value of a row, which group and which figure is asked for. */
import type { DatePart } from '../../../table/queries/query.ts';
import { wordSet } from '../../../table/word-set.ts';

/** Values of a row that questions name without a formula. */
export type ValueKind = 'lateness' | 'duration' | 'waiting' | 'revenue' | 'difference';

export const valueKindWords: readonly (readonly [ValueKind, ReadonlySet<string>])[] = [
  [
    'lateness',
    wordSet(
      'late later latest lateness delay delays delayed overdue punctual punctuality punctually verspätet verspätete verspäteten verspätung verspätungen pünktlich pünktlichkeit unpünktlich spätesten ' +
        'retard retards retardé retardés ponctuel ponctuelle ponctuels ponctualité retraso retrasos retrasado puntual puntualidad puntuales ritardo ritardi puntuale puntuali puntualità',
    ),
  ],
  [
    'waiting',
    wordSet(
      'wait waits waited waiting wartezeit wartezeiten warten wartet wartete warteten attente attentes attend attendent attendu attendre espera esperas esperan esperar attesa attese',
    ),
  ],
  [
    'duration',
    wordSet(
      'long longest shortest duration durations take takes took lasted lasts last turnaround dauer dauert dauerte dauerten gedauert lange längsten kürzesten brauchte brauchten durée durées dure durent duré longtemps duración duraciones tarda tardan tardó durata durate dura',
    ),
  ],
  ['revenue', wordSet('revenue revenues turnover takings umsatz umsätze erlös erlöse chiffre recette recettes ingresos incasso fatturato')],
  [
    'difference',
    wordSet(
      'difference differences discrepancy discrepancies shortfall shortfalls shrinkage deviation deviations abweichung abweichungen differenz differenzen fehlmenge écart écarts différence différences diferencia diferencias differenza differenze',
    ),
  ],
];

export const leads = wordSet(
  'by per each every across je jede jeder jedes jedem jeden pro nach par chaque por cada per ogni selon según secondo',
);
export const joints = wordSet(
  'and und et y e i the der die das den dem le la les el los las il lo gli l both also crossed with by per nach je pro par por × x /',
);
export const choosing = wordSet('which what welche welcher welches welchen welchem quel quelle quels quelles cuál cuáles qué quale quali');
export const persons = wordSet(
  'person name employee driver doctor teacher operator clerk agent rep technician nurse staff mitarbeiter mitarbeiterin bearbeiter bearbeiterin fahrer fahrerin arzt ärztin lehrer prüfer kassierer employé employée médecin conducteur chauffeur technicien empleado médico conductor impiegato medico autista analyst',
);
export const who = wordSet('who wer qui quién quiénes chi whose');

export const dateParts: ReadonlyMap<string, DatePart> = new Map(
  (
    [
      ['weekday', 'weekday weekdays wochentag wochentage wochentagen wochentags dow'],
      ['day', 'day days date dates tag tage tagen jour jours día días giorno giorni datum'],
      ['week', 'week weeks woche wochen kalenderwoche kalenderwochen kw semaine semaines semana semanas settimana settimane'],
      ['month', 'month months monat monate monaten mois mes meses mese mesi'],
      ['quarter', 'quarter quarters quartal quartale trimestre trimestres trimestri'],
      ['year', 'year years jahr jahre jahren année années año años anno anni'],
      ['hour', 'hour hours stunde stunden heure heures hora horas ora ore'],
    ] as const
  ).flatMap(([part, words]) => words.split(' ').map((word): [string, DatePart] => [word, part])),
);
/** "Day of the week", "jour de la semaine", "día de la semana". */
export const weekWords = wordSet('week woche semaine semana settimana');
export const dayWords = wordSet('day days tag jour jours día días giorno giorni');

export const weekdayNumbers: ReadonlyMap<string, readonly number[]> = new Map(
  [
    'sunday sundays sonntag sonntags sonntagen dimanche dimanches domingo domingos domenica',
    'monday mondays montag montags montagen lundi lundis lunes lunedì',
    'tuesday tuesdays dienstag dienstags dienstagen mardi mardis martes martedì',
    'wednesday wednesdays mittwoch mittwochs mercredi mercredis miércoles mercoledì',
    'thursday thursdays donnerstag donnerstags jeudi jeudis jueves giovedì',
    'friday fridays freitag freitags vendredi vendredis viernes venerdì',
    'saturday saturdays samstag samstags sonnabend samedi samedis sábado sábados sabato',
  ]
    .flatMap((words, day) => words.split(' ').map((word): [string, readonly number[]] => [word, [day]]))
    .concat(['weekend', 'weekends', 'wochenende', 'wochenenden', 'week-end', 'week-ends'].map((word) => [word, [6, 0]])),
);

export const meanWords = wordSet(
  'mean means average averages averaged durchschnitt durchschnittlich durchschnittliche durchschnittlichen durchschnittlicher mittel mittlere mittlerer mittleres mittleren moyenne moyennes moyen moyens media medio promedio medie',
);
export const sumWords = wordSet(
  'total totals sum sums altogether overall summe summen insgesamt gesamt gesamte gesamten gesamter totale totaux somme suma somma totali',
);
export const amountWords = wordSet(
  'much many viel viele wieviel wieviele combien cuánto cuánta cuántos cuántas quanto quanta quanti quante',
);
/** "How many" counts rows; "how much" asks for an amount. */
export const manyWords = wordSet('many viele wieviele combien cuántos cuántas quanti quante number count anzahl nombre');
export const shareWords = wordSet(
  'rate rates share shares percentage percentages percent proportion proportions fraction quote quoten anteil anteile prozentsatz prozent taux part parts pourcentage tasa tasas porcentaje proporción tasso percentuale quota %',
);
export const shareEndings = /(?:quote|quoten|rate|raten|anteil|anteile)$/;
export const oftenWords = wordSet('often oft häufig souvent fréquemment frecuencia spesso');
export const weightedWords = wordSet(
  'weighted gewichtet gewichtete gewichteter gewichteten gewichtetes pondéré pondérée pondérés pondérées ponderado ponderada ponderato ponderata',
);
export const largestWords = wordSet(
  'most largest highest biggest greatest longest latest worst top best max maximum meisten größte größten größter höchste höchsten höchster längste längsten spätesten schlechteste schlechtesten schlimmsten beste besten stärksten plus pire pires meilleur meilleure meilleurs más mayor mayores mejor peor più maggiore peggiore peggiori migliore',
);
export const smallestWords = wordSet(
  'least lowest smallest fewest shortest earliest cheapest minimum min wenigsten kleinste kleinsten niedrigste niedrigsten geringste geringsten kürzeste kürzesten frühesten moins petit petite faible faibles bas basse court courte menos menor menores meno minore minori',
);

const counts = [
  'two zwei deux dos due',
  'three drei trois tres tre',
  'four vier quatre cuatro quattro',
  'five fünf cinq cinco cinque',
  'six sechs seis sei',
  'seven sieben sept siete sette',
  'eight acht huit ocho otto',
  'nine neun neuf nueve nove',
  'ten zehn dix diez dieci',
];
export const countWords: ReadonlyMap<string, number> = new Map(
  counts.flatMap((words, i) => words.split(' ').map((word): [string, number] => [word, i + 2])),
);

/** Words that neither name a column nor ask for something else. */
export const fillers = wordSet(
  'the a an of is are was were be been do does did has have had in on at to for from it its their there that this these those and or not no we our us i you with without within than then as so if any all one ' +
    'der die das den dem des ein eine einer einem einen ist sind war waren hat haben im in am an auf zu zur zum bei von vom mit ohne und oder nicht wir uns unsere es sich als ' +
    'le la les un une des du de d est sont était étaient a ont y il elle on ce cette ces dans en au aux pour avec sans et ou ne pas que qui se sur ' +
    'el los las una uno unos unas del es son fue fueron ha han lo al con sin o no se su sus ' +
    'il lo gli i uno di è sono era erano ha hanno nel nella al alla con senza e non si',
);
