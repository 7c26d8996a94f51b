/**
 * Requests of a server for input of a person during a call. The call is cancelled, a person decides about the question as about any approval, and the call is made
 * again with the answer.
 */
import { createHash } from 'node:crypto';
import type { Preview } from '../../tasks/contract.ts';
import type { Question, QuestionAnswer } from './protocol/session.ts';

type Content = Extract<QuestionAnswer, { action: 'accept' }>['content'];
type Property = { type?: unknown; default?: unknown; title?: unknown };

const maxQuestions = 4;
const maxTextChars = 2_000;
/** They are kept with the approval. */
const maxAnswerChars = 8_000;

export class Questions {
  /** Questions without an answer. */
  readonly open: Question[] = [];
  private readonly answers: Readonly<Record<string, Content>>;

  /** @param approved what a person approved: the basis of an earlier preview, or null */
  constructor(approved: unknown) {
    this.answers = isBasis(approved) ? approved.answers : {};
  }

  answer(question: Question): QuestionAnswer {
    const content = this.answers[keyOf(question)];
    if (content !== undefined) return { action: 'accept', content };
    if (this.open.length < maxQuestions) this.open.push(question);
    return { action: 'cancel' };
  }

  /** Required input that an approval cannot give; null: nothing. */
  unanswerable(): string | null {
    if (JSON.stringify(this.open.map(contentOf)).length > maxAnswerChars) return 'an answer that is longer than can be shown';
    const fields = this.open.flatMap((question) => missingFields(question));
    return fields.length === 0 ? null : fields.join(', ').slice(0, maxTextChars);
  }

  preview(server: string): Preview {
    const texts = this.open.map((question) => `${question.message}${shownContent(contentOf(question))}`);
    const answers = { ...this.answers, ...Object.fromEntries(this.open.map((question) => [keyOf(question), contentOf(question)])) };
    return { text: `The MCP server ${server} asks:\n${texts.join('\n')}`.slice(0, maxTextChars), basis: { answers } };
  }
}

/** The answers that an approval gives: true for booleans, and the server's own defaults. */
function contentOf(question: Question): Content {
  const content: Content = {};
  for (const [name, { type, default: preset }] of propertiesOf(question)) {
    if (typeof preset === 'string' || typeof preset === 'number' || typeof preset === 'boolean') content[name] = preset;
    else if (type === 'boolean') content[name] = true;
  }
  return content;
}

function missingFields(question: Question): string[] {
  const content = contentOf(question);
  const { required } = question.schema;
  return Array.isArray(required)
    ? required.filter((name): name is string => typeof name === 'string' && !Object.hasOwn(content, name))
    : [];
}

function propertiesOf({ schema }: Question): [string, Property][] {
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null ? (Object.entries(properties) as [string, Property][]) : [];
}

function shownContent(content: Content): string {
  return Object.keys(content).length === 0 ? '' : ` Approving answers: ${JSON.stringify(content)}`;
}

function keyOf({ message, schema }: Question): string {
  return createHash('sha256')
    .update(JSON.stringify([message, schema]))
    .digest('hex')
    .slice(0, 32);
}

function isBasis(value: unknown): value is { answers: Record<string, Content> } {
  return typeof value === 'object' && value !== null && 'answers' in value;
}
