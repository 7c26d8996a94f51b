/** The words of questions in Spanish, French, Italian, Portuguese, Dutch and German whose topics are known by their English words. */
import { wordSet } from '../../table/word-set.ts';

const meanings: readonly (readonly [string, string])[] = [
  [
    'most',
    'más mas mayor mayores mejor mejores plus meilleur meilleure meilleurs meilleures più maggior maggiore maggiori migliore migliori mais maior maiores melhor melhores meer meest meeste grootste hoogste beste',
  ],
  [
    'least',
    'menos menor menores peor peores moins pire pires meno minore minori peggiore peggiori pior piores minder minst minste kleinste laagste',
  ],
  ['much', 'cuánto cuánta cuanto cuanta combien quanto quanta hoeveel'],
  ['many', 'cuántos cuántas cuantos cuantas quanti quante quantos quantas'],
  ['total', 'suma somme somma soma totale totaal totaux totali totales totais'],
  ['sold', 'vende venden vend vendent vendono vendem verkoopt verkaufen verkauft'],
  ['earned', 'gana ganan ganado ganamos ingresa gagne gagné gagnons guadagna guadagnato ganha ganhou verdient verdiend'],
  ['spent', 'gasta gastan gastado gastamos gastos dépense dépensé dépensons speso spende spendiamo gastou gastámos uitgegeven'],
  ['cost', 'cuesta cuestan coûte coûtent costa costano custa custam kost kosten'],
  ['worth', 'vale valen vaut valent valgono valem waard wert'],
  ['errors', 'error errores erreur erreurs errore errori erro erros fout fouten fehlerhaft fehlerhafte équivocados'],
  [
    'stands',
    'raro rara raros raras extraño extraña destaca destacan llama atención sospechoso sospechosa anómalo anómala bizarre étrange anormal anormale suspect suspects ressort frappe strano strana strani anomalo anomala anomalie sospetto sospetti spicca colpisce occhio estranho estranha suspeito atenção vreemd vreemde opvallend opvallende opvalt afwijkend afwijkende auffällt',
  ],
  [
    'missing',
    'falta faltan faltante faltantes faltam manque manquent manquant manquante manquants manquantes manca mancano mancante mancanti ontbreekt ontbreken ontbrekende',
  ],
  [
    'twice',
    'duplicado duplicados duplicada duplicadas repetido repetidos repetidas doublon doublons doppio doppia doppi doppie duplicati duplicato dubbel dubbele',
  ],
  [
    'complain',
    'queja quejan quejas plaignent plaintes plainte lamentano lamentele lamentela reclamam reclamações queixas klagen klachten klacht',
  ],
  ['praise', 'elogian elogia alaban gusta louent apprécient apprécié lodano apprezzano elogi elogiam elogios prijzen waarderen'],
  [
    'trend',
    'evolución evoluciona evolucionado evolucionan crece crecen crecido évolution évolue évoluent évolué augmente augmenté baisse baissé andamento cresce crescono aumentato diminuito evolução evoluiu cresceu ontwikkeling ontwikkeld gegroeid stijgt gestegen gedaald',
  ],
  ['right', 'juste justes exacts exactes cuadran cuadra tornano certos'],
  ['trust', 'confiar fiarse fiarme fiarnos confiance fidarsi fidarmi fidarci confiável confiáveis vertrouwen betrouwbaar'],
  ['late', 'tarde retraso retrasos retard retards ritardo ritardi atraso atrasos laat vertraging'],
  ['paid', 'pagado pagan paga payé payés payent pagato pagati pagano pagou pagaram betaald'],
  ['stock', 'existencias inventario estoque voorraad'],
];
const known: ReadonlyMap<string, string> = new Map(meanings.flatMap(([english, words]) => words.split(' ').map((word) => [word, english])));
/** A question with such a word is English, where "plus" and "error" mean what they say. */
const english = wordSet('the what which how who and does did are');
/** "Was fällt auf", "wat valt op": two words of one verb. */
const standsOut: readonly (readonly [string, string])[] = [
  ['fällt', 'auf'],
  ['fallen', 'auf'],
  ['valt', 'op'],
  ['vallen', 'op'],
];

/** The words with the English ones for their meanings behind them. */
export function inEnglish(words: readonly string[]): readonly string[] {
  if (words.some((word) => english.has(word))) return words;
  const verb = standsOut.find(([first, last]) => words.includes(first) && words.includes(last))?.[0];
  const own = verb === undefined ? words : words.filter((word) => word !== verb);
  const added = new Set(own.flatMap((word) => known.get(word) ?? known.get(word.replace(/^[ldsmn]['’]/, '')) ?? []));
  // "Combien de clients", "hoeveel klanten": how many.
  if (words.some((word, i) => (word === 'combien' && /^d(?:e$|['’])/.test(words[i + 1] ?? '')) || word === 'hoeveel')) added.add('many');
  return [...own, ...(verb === undefined ? [] : ['stands']), ...added];
}
