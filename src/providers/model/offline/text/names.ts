/** Finds people in a text by reliable signs: titles, common first names, mail headers, lists of attendees, speakers. */

const firstNames = new Set(
  'Achim Agnès Aidan Alain Albert Alison Amélie André Angus Anneliese Anselm Antoine Arne Arno Astrid Aurélie Axel Beate Beatrice Benoît Bert Bettina Björn Bridget Brigitte Camille Catriona Cécile Cédric Chantal Charlie Colin Connor Corinne Craig Damien Daphne Dave Debbie Delphine Denis Derek Detlef Dominik Doris Doug Dragan Duncan Édith Edgar Eileen Eleanor Ellen Elke Emanuel Émilie Erich Ernst Erwin Étienne Eugen Eve Ewan Fabian Fabien Fabrice Ferdinand Florence Florent Franck Frederik Frédéric Gavin Geoff Georg Geraldine Gérard Gerhard Gerry Gilles Gillian Gisela Glen Gordon Grégory Gudrun Guillaume Günter Günther Guy Hanne Hannelore Hartmut Harvey Hazel Hedwig Heidi Heiner Helga Helga Helmut Henriette Herbert Hervé Hildegard Horst Howard Hubert Huw Ilka Ilse Imke Ingo Inge Isabelle Jacqueline Jacques Janine Jérôme Jenny Jérémy Jill Jo Joachim Joanne Jochen Joel Jörg Josef Josephine Josh Joyce Julie Julien Jutta Karsten Kathleen Kathy Kerstin Kirsten Kirsty Kurt Laurence Laurent Leah Leonard Lionel Loïc Lorna Lothar Luc Lucie Ludwig Lutz Lydia Lynn Maeve Malcolm Mandy Manon Marcin Margit Margot Marianne Mathias Mathieu Mathilde Maud Maureen Maurice Max Meike Michèle Mick Moira Monique Morgan Moritz Nathalie Nathan Neil Nelly Nicolas Nigel Odile Olivier Owen Pascal Pascale Patrice Pauline Pavel Peggy Petr Phil Pia Quentin Raymond Régis Reinhard Reiner Rémi Rhys Rob Robbie Rolf Romain Ron Rory Ross Roswitha Ruben Rudi Rudolf Rupert Sascha Sean Sébastien Sheila Shirley Sigrid Simone Sonia Stan Stella Stéphane Stuart Sylvain Sylvie Terry Theodor Theodora Thierry Thorsten Tilo Tim Timo Tobi Todd Tomasz Torsten Trevor Udo Ulla Valérie Veit Véronique Virginie Volker Waltraud Wilfried Wilhelm Willi Xavier Yann Yves Yvonne Zdenek Adam Adrian Ahmed Aisha Alan Alex Alexander Alexandra Alice Ali Alina Amanda Amelia Amir Amy Ana Andrea Andreas Andrew Angela Anita Anja Ann Anna Anne Annika Anthony Antonio Arthur Barbara Ben Benjamin Bernd Bianca Birgit Bob Brian Bruno Carl Carla Carlos Carmen Caroline Catherine Cem Charles Charlotte Chen Chloe Chris Christian Christina Christine Christoph Claire Clara Claudia Daniel Daniela David Deborah Dennis Diana Diego Dieter Dirk Dmitri Donald Dorothea Ed Edward Elena Elias Elif Elisabeth Elizabeth Ella Emily Emma Eric Erik Esther Eva Fatima Felix Fiona Florian Francesca Francis Frank Franziska Fred Frieda Friedrich Gabriel Gabriele Gary George Gerd Gloria Grace Graham Greta Gustav Hana Hanna Hannah Hans Harald Harry Heike Heinz Helen Helena Henrik Henry Hiroshi Holger Hugo Ian Ibrahim Ida Ines Ingrid Irene Isabel Ivan Jack Jacob Jake Jakob James Jan Jane Janet Jason Jasmin Javier Jean Jennifer Jens Jessica Jim Joan Joanna Joao Joe Johan Johanna Johannes John Jonas Jonathan Jorge Jose Joseph Joshua Juan Judith Julia Julian Juliane Jürgen Kai Karen Karin Karl Karla Kate Katharina Katherine Kathrin Katja Keith Kelly Ken Kenji Kevin Khalid Kim Klaus Kofi Konrad Kristin Lara Lars Laura Lea Lena Leo Leon Leonie Lewis Liam Lily Lina Linda Lisa Lotte Louis Louise Luca Lucas Lucia Lucy Luis Luisa Lukas Maja Manfred Manuel Marc Marcel Marcus Margaret Maria Marie Marina Mario Marion Mark Markus Marta Martha Martin Martina Mary Matt Matthew Matthias Max Maya Mehmet Mei Melanie Mia Michael Michaela Michelle Miguel Mike Miriam Mohamed Mohammed Monica Monika Nadia Nadine Natalie Nicholas Nick Nicola Nicole Niklas Nina Noah Nora Norbert Olga Oliver Olivia Omar Oscar Otto Pablo Pamela Patricia Patrick Paul Paula Pedro Peter Petra Philip Philipp Pierre Priya Rachel Rainer Ralf Ravi Rebecca Regina Renate Rene Richard Rita Robert Roberto Robin Roger Roland Rosa Ruth Ryan Sabine Sally Sam Samantha Samira Samuel Sandra Sara Sarah Sebastian Silke Silvia Simon Sofia Sonja Sophia Sophie Stefan Stefanie Stephan Stephanie Stephen Steve Steven Sue Susan Susanne Sven Svenja Sylvia Tanja Tara Ted Teresa Theo Theresa Thomas Tim Tina Tobias Tom Tomas Tomoko Tony Ulrich Ulrike Ursula Ute Uwe Valentina Vanessa Vera Veronica Victor Victoria Viktor Vincent Vivian Walter Wei Werner Wendy Will William Wolfgang Yasmin Yuki Yusuf Zoe'.split(
    ' ',
  ),
);
const capital = "\\p{Lu}[\\p{L}'’]{1,25}(?:-\\p{Lu}[\\p{L}'’]{1,25})?";
const particle = '(?:(?:van|von|de|der|den|da|di|du|la|le|bin|al|zu) ){0,2}';
const titled = new RegExp(
  `(?<![\\p{L}])(?:Mr|Mrs|Ms|Mx|Dr|Rev|Prof|Professor|Herr|Frau|Pfarrer|Pfarrerin|Pastor|Pastorin|Mme|Sir|Dame|Lord|Lady)\\.? (?:Dr\\. )?(?:${capital} |\\p{Lu}\\. ){0,2}${particle}${capital}`,
  'gu',
);
const fullName = new RegExp(
  `(?<![\\p{L}-])(${capital})(?=( (?:\\p{Lu}\\. )?${particle}${capital})(?! (?:Street|Road|Bridge|Park|River|Square|Avenue|Station|Hall|School|University|Hospital|Ltd|Inc|GmbH|AG))(?![\\p{L}]))`,
  'gu',
);
/** "Bürgermeister Martin Horn", "spokeswoman Jane Doe": a person by an office. */
const inOffice = new RegExp(
  `(?<![\\p{L}])(?:\\p{L}{0,25}(?:minister|ministerin|meister|meisterin|präsident|präsidentin|sprecher|sprecherin|leiter|leiterin|vorsitzender|vorsitzende|direktor|direktorin|professor|professorin|trainer|trainerin|chef|chefin|führer|führerin|vorstand|rat|rätin|forscher|forscherin|anwalt|anwältin)|[Mm]ayor|[Pp]resident|[Mm]inister|[Ss]enator|[Dd]irector|[Ss]pokes(?:man|woman|person)|[Pp]rofessor|[Cc]hair(?:man|woman|person)?|[Ff]ounder|[Mm]anager|[Cc]oach|CEO|[Cc]ouncillor|[Ss]cientist|[Rr]esearcher|[Ee]ngineer|[Aa]nalyst|[Cc]hief executive|[Pp]rincipal) (${capital} ${particle}${capital})(?![\\p{L}])`,
  'gu',
);
const spoken = new RegExp(
  `(?<![\\p{L}])(?:said|says|sagte|sagt|erklärte|betonte|so|dit|déclaré|déclare|affirme|expliqué|explique|estime|selon|dijo|declaró|afirma|afirmó|explicó|según|dice|detto|dichiarato|afferma|commenta|racconta|sostiene|spiega|secondo) (?:(?:the |der |die |le |la |l['’]|el |il )?(?:\\p{Ll}[\\p{L}-]{2,20} ){1,2})?(${capital} ${particle}${capital})(?![\\p{L}])`,
  'gu',
);
/** "A spokesman for the council, Piet Vandam, said". */
const speaker = new RegExp(
  `(?<=, )(${capital} ${particle}${capital}),? (?:said|says|told|added|warned|explained|sagte|erklärte|betonte)(?![\\p{L}])`,
  'gu',
);
/** "Gerald Poole, who lives opposite the mill": what only a person does. */
const describedPerson = new RegExp(
  `(?<![\\p{L}])(${capital} ${particle}${capital}), (?:who (?:lives?|works?|leads?|runs?|owns?|heads?|founded|started|grew|teaches|voted|has been|was born)|(?:aged )?\\d{2},)(?![\\p{L}])`,
  'gu',
);
/** "Their chairman, Udo Sallert, has announced a complaint". */
const afterOffice = new RegExp(
  `(?<=(?:chair(?:man|woman|person)?|president|director|head|spokes(?:man|woman|person)|mayor|captain|manager|secretary|treasurer|founder|owner), )(${capital} ${particle}${capital})(?=,)`,
  'gu',
);
const notSurnames = new Set(
  'And Or The Will To Is Was Has From Of For In On At By January February March April May June July August September October November December Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(
    ' ',
  ),
);

export function isFirstName(word: string): boolean {
  return firstNames.has(word);
}

/** Full names of people in a sentence, as written. Reads its first 4,000 characters. */
export function findPeople(written: string): string[] {
  // "Mr Hill's offer": the name has no genitive.
  const text = written.slice(0, 4000).replace(/(?<=\p{L})['’]s?(?![\p{L}])/gu, (mark) => ' '.repeat(mark.length));
  const found = [...text.matchAll(titled)].map(([name]) => name.trim());
  for (const [, name] of [
    ...text.matchAll(inOffice),
    ...text.matchAll(spoken),
    ...text.matchAll(speaker),
    ...text.matchAll(describedPerson),
    ...text.matchAll(afterOffice),
  ]) {
    const [first, second] = name!.split(' ');
    // "Bürgermeisterin Ulrike": an office and a first name.
    const isOffice = firstNames.has(second!) && !firstNames.has(first!);
    if (!isOffice && !found.includes(name!)) found.push(name!);
  }
  for (const [, first, rest] of text.matchAll(fullName)) {
    const name = `${first}${rest}`;
    // "Dr. Lena Brandt" is found with her title.
    if (firstNames.has(first!) && !notSurnames.has(rest!.trim().split(' ')[0]!) && !found.some((known) => known.endsWith(` ${name}`)))
      found.push(name);
  }
  return [...new Set(found)];
}

/** Whether a text may be the name of one person: one to four words that begin with capitals. */
export function isNameLike(text: string): boolean {
  return (
    text.length <= 60 &&
    !organisation.test(text) &&
    /^(?:(?:Dr|Rev|Hon|Capt|Prof|Mr|Mrs|Ms|Herr|Frau)\.? )?\p{Lu}[\p{L}'’.-]{0,30}(?: (?:van|von|de|der|den|da|di|la|le|zu|\p{Lu}[\p{L}'’.-]{0,30})){0,3}$/u.test(
      text,
    ) &&
    !notPeople.has(text.toLowerCase())
  );
}

/** The last word of the name of a firm or an office. */
const organisation =
  / (?:Removals|Movers|Services?|Team|Office|Support|Insurance|Group|Partners|Solutions|Systems|Company|Committee|Council|Bank|Energy|Logistics|Travel|Hotel|Ltd|Limited|Inc|LLC|GmbH|AG|Verein|Praxis|Kanzlei|Büro|Amt|Versicherung|Werkstatt|Assurances?|Transports?|Cabinet|Mairie|Banque)$/u;

const notPeople = new Set(
  (
    'the we it this that they you all i he she there team board committee everyone management next action actions decision decisions note notes question questions date time place agenda item items budget total status update summary risk risks owner ' +
    'monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december today tomorrow yesterday asap tbd tbc todo done open pending yes no eod ' +
    'alle wir sie es das der die beschluss aufgabe montag dienstag mittwoch donnerstag freitag samstag sonntag ort datum zeit warning info error note: please bitte also then however meanwhile first second finally if when after before what who how why where'
  ).split(' '),
);

/** "Anna Lee (chair), Bob Stone; Cem Kaya and Dora": names of a list, without their roles. */
export function listedPeople(text: string): string[] {
  return text
    .slice(0, 4000)
    .replace(/\([^()]{0,80}\)/g, '')
    .replace(/<[^<>]{0,100}>/g, '')
    .split(
      /[,;•|/]| and | und | & |(?<!(?:^|[ .])(?:Dr|Mr|Mrs|Ms|Prof|St|Rev|Hon|Capt|Lt|Sgt|Fr|Sr|Sra|Mme|Mlle|Dott|Ing|\p{Lu}))\. (?=\p{Lu})/u,
    )
    .map((part) =>
      part
        .replace(/ ?[-–:] .{0,100}$/, '')
        .replace(/[.]$/, '')
        .trim(),
    )
    .filter(isNameLike);
}

const englishWords = new Set('the of and to in is was that for it with as on are by be this from at were which have has not'.split(' '));
const notNames = new Set(
  'VAT Proposed Agreed Approved Whether Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays I The A An It He She We They You This That These Those In On At By For From To Of And But Or If When After Before While As Not No Yes There Here What Who How Why Where Which Please Thank Thanks Dear Hello Hi Regards Best Kind Mon Tue Wed Thu Fri Sat Sun Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec Re Fwd Mr Mrs Ms Dr Prof Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December Q1 Q2 Q3 Q4 OK UTC GMT CET CEST EST PST EUR USD GBP CHF JPY CNY SEK NOK DKK PLN CZK HUF CAD AUD INR BRL MXN'.split(
    ' ',
  ),
);

/** Whether a text is English, by its small words; in German every noun has a capital, so capitals are no sign of a name. */
export function isEnglish(text: string): boolean {
  const words = text
    .slice(0, 20_000)
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
  const common = words.filter((word) => englishWords.has(word)).length;
  return words.length >= 20 && common / words.length > 0.12;
}

const capitalRun =
  /(?<![\p{L}\p{N}'’-])(?:St\. )?\p{Lu}[\p{L}\p{N}'’&-]{1,30}(?: (?:(?:of|the|for|and|de|von|&) ){0,2}\p{Lu}[\p{L}\p{N}'’&-]{1,30}){0,4}/gu;

const code = /^\p{Lu}{1,3}\d{1,4}\p{Ll}?$|^I['’]/u;
const shoutedLetters = 6;

function isShouted(word: string): boolean {
  const isUpper = word.length > 1 && word === word.toUpperCase() && /^\p{L}+$/u.test(word);
  return isUpper && (word.length >= shoutedLetters || englishWords.has(word.toLowerCase()));
}

/** Capitalised names of an English sentence after its first word: places, organisations, products. Reads 4,000 characters. */
export function findOtherNames(written: string): string[] {
  const text = written.slice(0, 4000);
  return [...text.matchAll(capitalRun)].flatMap(({ 0: run, index }) => {
    // "W4", "P08" are codes of things, "CANCELLED" is a shouted word.
    const words = run.split(' ').filter((word) => !code.test(word) && !isShouted(word));
    // The first word of a sentence always has a capital, also after a mark or a time: "**09:31** Monitoring began".
    const first = !/\p{L}/u.test(text.slice(0, index)) || /["“(:.!?] ?$/.test(text.slice(Math.max(0, index - 2), index)) ? 1 : 0;
    const kept = words.slice(first === 1 && (words.length === 1 || notNames.has(words[0]!)) ? 1 : 0);
    while (kept.length > 0 && (notNames.has(kept[0]!) || /^\p{Ll}/u.test(kept[0]!))) kept.shift();
    while (kept.length > 0 && (notNames.has(kept.at(-1)!) || /^\p{Ll}/u.test(kept.at(-1)!))) kept.pop();
    const name = kept.join(' ').replace(/['’]s?$/, '');
    // "Ann, Orsa and Tilo" is a list; "Marks and Spencer" is one name.
    const pair = text.slice(0, index).endsWith(', ') ? /^(\S+) and (\S+)$/.exec(name) : null;
    if (pair !== null) return [pair[1]!, pair[2]!];
    return name.length < 2 || /^\p{Lu}?\d*$/u.test(name) ? [] : [name];
  });
}
