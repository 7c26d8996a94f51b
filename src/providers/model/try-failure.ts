/** Why one try of a model turn failed, as a text for the task's owner, and whether another try may help. Contains no secret. */

/** `never`: would fail again. `once`: unusual, worth one retry. `backoff`: the endpoint is busy or broken. */
export type Retry = 'never' | 'once' | 'backoff';

export class TryFailure extends Error {
  override name = 'TryFailure';
  readonly retry: Retry;
  /** The endpoint's Retry-After in milliseconds. */
  readonly retryAfterMs: number | undefined;

  /** @param message a whole sentence, safe to show */
  constructor(message: string, retry: Retry, retryAfterMs?: number) {
    super(message);
    this.retry = retry;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The settings of one kind of endpoint, so that a message can name the relevant one; no `address` if it cannot be set. */
export type SettingNames = { key: string; address?: string };

export type EndpointComplaint = {
  status: number;
  /** The endpoint's own error text, already masked; empty if there was none. */
  detail: string;
  /** The endpoint's machine-readable code or type, if it has one. */
  code?: string;
  retryAfterMs?: number;
};

const tooLong = /context[ _](length|window)|maximum context|prompt is too long|input is too long|too many tokens/i;
const noCredit = /insufficient_quota|billing|credit balance/i;

/** Interprets an HTTP status, or the status of an error inside a stream. */
export function failureOfComplaint(
  { status, detail, code = '', retryAfterMs }: EndpointComplaint,
  names: SettingNames,
  model: string,
): TryFailure {
  const suffix = detail === '' ? '' : `: ${detail}`;
  if (status === 401 || status === 403)
    return new TryFailure(`The model endpoint refused the API key; the operator must check ${names.key}.`, 'never');
  if (status === 404) {
    const wrongAddress = names.address ? `, or ${names.address} is not its address (it often ends in /v1)` : '';
    return new TryFailure(`The model endpoint knows no model "${model}"${wrongAddress}.`, 'never');
  }
  if (status === 413 || tooLong.test(code) || tooLong.test(detail))
    return new TryFailure('The conversation has grown longer than the model can read.', 'never');
  if (status === 402 || (status === 429 && noCredit.test(`${code} ${detail}`)))
    return new TryFailure('The account at the model provider has no credit left.', 'never');
  if (code === 'content_filter') return new TryFailure('The model refused to answer this request.', 'never');
  if (status === 429) return new TryFailure('The model endpoint asks us to slow down (429).', 'backoff', retryAfterMs);
  if (status === 408 || status >= 500) return new TryFailure(`The model endpoint failed (${status})${suffix}`, 'backoff', retryAfterMs);
  if (status >= 300 && status < 400)
    return new TryFailure(
      `The model endpoint redirects elsewhere (${status}); the operator must check ${names.address ?? 'the network'}.`,
      'never',
    );
  return new TryFailure(`The model endpoint refused the request (${status})${suffix}`, 'never');
}

/** One line of external text, safe to show: known secrets and similar texts are masked, the rest is truncated. */
export function scrub(words: unknown, secrets: readonly string[]): string {
  if (typeof words !== 'string') return '';
  let line = words.slice(0, 4_000);
  for (const secret of secrets) if (secret.length >= 4) line = line.replaceAll(secret, '[secret]');
  line = line
    .replace(/\b(sk|pk|key|mk)[-_][\w*.-]{6,}/gi, '[secret]')
    .replace(/bearer\s+\S+/gi, '[secret]')
    .replace(/\/\/[^/\s@]+@/g, '//[secret]@')
    .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
    .trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
