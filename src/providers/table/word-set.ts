/** A set of words that are written in one text, separated by blanks. */
export const wordSet = (words: string): Set<string> => new Set(words.split(' '));
