/** E-mails and letters: what the writer wants, and what was promised. The sentences that say so. */
import type { Quote } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { quotesWhere } from './told.ts';

const salutation =
  /^(?:dear|hello|hi|to whom|sehr geehrte[rs]?|liebe[rs]?|guten tag|madame|monsieur|cher|chère|bonjour|estimad[oa]s?|querid[oa]|gentile|egregi[oa]|spettabile)(?![\p{L}])/iu;
const wishing =
  /(?<![\p{L}])(?:(?:I|we) (?:do not |don(?:'|’)t |only |just |therefore |also |still )?(?:want|would like|need|ask|request|expect|demand|insist|hope|wish)|I(?:'|’)d like|please|could you|can you|would you|kindly|ich (?:möchte|will|bitte|erwarte|fordere|verlange)|wir (?:möchten|bitten|erwarten|fordern)|bitte|je (?:veux|voudrais|souhaite|demande)|nous (?:voulons|souhaitons|demandons)|merci de|veuillez|(?:quiero|quisiera|solicito|pido|espero|exijo)|(?:vorrei|voglio|chiedo|desidero|pretendo)|prego di)(?![\p{L}])/iu;
const promising =
  /(?<![\p{L}])(?:(?:I|we) (?:will|shall|can offer|promise|guarantee)|(?:I|we)(?:'|’)ll|(?:you|they|he|she|it) (?:had |have |has )?promised|was promised|offer(?:ed)? you|(?:ich|wir) (?:werde|werden|verspreche|versprechen|biete|bieten|sage|sagen)|zugesagt|versprochen|(?:je|nous) (?:vous )?(?:promet\p{L}{1,4}|garanti\p{L}{1,5}|offr\p{L}{1,4})|prometieron|prometió|le ofrecemos|prometemos|promesso|le offriamo|promettiamo)(?![\p{L}])/iu;
const headSentences = 12;

/** A text that greets somebody near its top. */
export function isLetter(passages: readonly Passage[]): boolean {
  return passages.slice(0, headSentences).some(({ text }) => salutation.test(text) && text.length < 400);
}

export function wishesIn(passages: readonly Passage[]): Quote[] {
  return quotesWhere(passages, ({ text }) => wishing.test(text));
}

export function promisesIn(passages: readonly Passage[]): Quote[] {
  return quotesWhere(passages, ({ text }) => promising.test(text));
}
