/** What a reader looks up in a contract: parties, term and notice, payments, duties. The sentences that say so, by the words of each. */

import { isMoney } from '../amounts.ts';
import type { TextFacts } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

const party =
  /(?<![\p{L}])(?:between|zwischen|entre|tra|fra)(?: (?:the |der |dem |la |le |el |il )?\p{Lu}|[:,]|$)|\((?:hereinafter |im Folgenden |nachfolgend |ci-après |en adelante |di seguito )?(?:the |der |die |das |le |la |el |il )?["“„«]|(?:hereinafter|im Folgenden|ci-après|en adelante|di seguito)(?![\p{L}])/iu;
const term =
  /(?<![\p{L}])(?:begins?|commences?|starts?|takes effect|effective|runs? (?:for|until|from)|term|(?:fixed|initial) period|ends? on|expires?|expiry|extended|extends|renew(?:s|ed|al)?|beginnt|läuft|Laufzeit|befristet|unbefristet|endet|verlänger\p{L}{1,4}|prend effet|durée|renouvel\p{L}{2,6}|duración|renov\p{L}{2,6}|vigencia|durata|rinnov\p{L}{2,6}|decorr\p{L}{2,4})(?![\p{L}])/iu;
const notice =
  /(?<![\p{L}])(?:notice|terminat\p{L}{1,4}|cancel(?:s|led|lation)?|withdraw(?:al)?|Kündigung\p{L}{0,6}|kündig\p{L}{1,4}|gekündigt|Widerruf|préavis|résili\p{L}{2,6}|preaviso|rescisión|rescindir|preavviso|disdetta|recess\p{L})(?![\p{L}])/iu;
const payment =
  /(?<![\p{L}])(?:payable|due (?:on|within|by)|deposit|rent|fees?|price|in advance|invoices?|late payment|interest|penalt(?:y|ies)|fällig|Miete|Kaution|Gebühr\p{L}{0,2}|Entgelt|Vergütung|loyer|dépôt de garantie|caution|alquiler|fianza|canone|affitto|caparra|deposito)(?![\p{L}])/iu;
const liability =
  /(?<![\p{L}])(?:liab(?:le|ility)|damages?|theft|loss|insur(?:ed|ance)|warrant(?:y|ies)|guarantees?|covered|haftet|Haftung|Schaden|Diebstahl|Gewährleistung|responsab\p{L}{2,6}|dommages?|vol|garantie|daños|robo|danni|furto)(?![\p{L}])/iu;
const deadline =
  /(?<![\p{L}])(?:within|at least|no later than|(?:un)?til|before|from the) (?:the )?(?:\d{1,3}|\p{L}{2,12}) ?(?:st|nd|rd|th)?(?: (?:working |calendar |business )?(?:hours?|days?|weeks?|months?|years?|a\.m\.|p\.m\.)|(?= ))|(?:by|until|before) \d{1,2}(?:[:.]\d{2})? ?(?:[ap]\.?m\.?|o['’]clock|Uhr)|innerhalb|binnen|spätestens|dans les|au plus tard|dentro de|antes de|entro/iu;
const duty =
  /(?<![\p{L}])(?:shall|must|may not|is obliged|undertakes|is responsible for|agrees to|(?:is|are) (?:only )?(?:allowed|permitted|prohibited)(?: only)?|only (?:between|with|after)|verpflichtet|hat \p{L}{0,20} ?zu|muss|darf nicht|dürfen nicht|doit|s['’]engage|est tenue?|ne peut pas|interdit|debe|se compromete|se obliga|no podrá|prohibido|deve|si impegna|è tenut[oa]|non può|vietato)(?![\p{L}])/iu;
/** "Duties of the Tenant". */
const dutySection = /(?<![\p{L}])(?:duties|obligations|Pflichten|obligaciones|obblighi)(?![\p{L}])/iu;

const maxQuotes = 30;

const topics: readonly (readonly [RegExp, (passage: Passage) => boolean])[] = [
  [
    /(?<![\p{L}])(?:part(?:y|ies)|who signs?|between whom|Vertragspart\p{L}{1,8}|Parteien|parties contractantes|partes|parti)(?![\p{L}])/iu,
    ({ text }) => party.test(text),
  ],
  [
    /(?<![\p{L}])(?:term|how long|duration|start(?:s|ed)?|begins?|ends?|runs?|renew\p{L}{0,4}|Laufzeit|Dauer|durée|duración|durata)(?![\p{L}])/iu,
    ({ text }) => term.test(text),
  ],
  [
    /(?<![\p{L}])(?:notice|terminat\p{L}{1,4}|cancel\p{L}{0,8}|get out|Kündigung\p{L}{0,6}|kündigen|préavis|résilier|preaviso|preavviso|disdetta)(?![\p{L}])/iu,
    ({ text, section }) => notice.test(text) || notice.test(section),
  ],
  [
    /(?<![\p{L}])(?:pay|pays|paid|payments?|costs?|rent|fees?|price|amounts?|deposit|how much|sums?|zahl\p{L}{1,3}|bezahl\p{L}{1,3}|kostet|Beträge|Miete|payer|coûte|montants?|pagar|cuesta|importes|pagare|costa|importi)(?![\p{L}])/iu,
    ({ text, amounts }) => amounts.some(isMoney) || payment.test(text),
  ],
  [
    /(?<![\p{L}])(?:liab(?:le|ility)|damages?|responsible|insur\p{L}{2,5}|theft|Haftung|haften?|hafte|responsab\p{L}{2,8})(?![\p{L}])/iu,
    ({ text }) => liability.test(text),
  ],
  [
    /(?<![\p{L}])(?:deadlines?|time limits?|by when|until when|Fristen?|délais?|plazos?|scadenze)(?![\p{L}])/iu,
    ({ text }) => deadline.test(text),
  ],
  [
    /(?<![\p{L}])(?:dut(?:y|ies)|obligations?|obliged|must|have to|allowed|forbidden|may we|Pflichten|verpflichtet|müssen|obligaciones|obblighi)(?![\p{L}])/iu,
    ({ text, section }) => duty.test(text) || dutySection.test(section),
  ],
];

/** Null for a text that is no contract, or a question on something else. */
export function contractAnswer(clause: string, { kind }: TextFacts, passages: readonly Passage[]): Told | null {
  if (kind !== 'contract') return null;
  const asked = topics.filter(([words]) => words.test(clause)).map(([, fits]) => fits);
  const quotes = asked.length === 0 ? [] : quotesWhere(passages, (passage) => asked.some((fits) => fits(passage)));
  return quotes.length === 0
    ? null
    : {
        short: quotesShort(quotes),
        lines: [quoteTable(quotes, maxQuotes)],
        sections: asked.some((fits) => fits === topics.at(-1)![1]) ? ['Duties (sentences with "shall", "must" and the like)'] : [],
      };
}
