/** Removes the secrets that were sent to an MCP server from what the server answers: it could repeat them in a result, an error or a description. */

const secretName = /auth|key|token|secret|cookie|password|credential/i;
/** Shorter values occur in texts by chance. */
const minChars = 8;

export class SecretMask {
  private readonly secrets: readonly string[];

  /** @param headers sent with each request; the values of those whose names suggest a secret are removed */
  constructor(headers: Readonly<Record<string, string>>) {
    const values = Object.entries(headers).flatMap(([name, value]) => (secretName.test(name) ? [value, value.replace(/^\S+ +/, '')] : []));
    this.secrets = [...new Set(values)].filter((value) => value.length >= minChars);
  }

  text(text: string): string {
    return this.secrets.reduce((masked, secret) => masked.replaceAll(secret, '[masked]'), text);
  }

  /** @param value JSON */
  json<T>(value: T): T {
    if (this.secrets.length === 0) return value;
    const text = JSON.stringify(value);
    const escaped = this.secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
    if (text === undefined || !escaped.some((secret) => text.includes(secret))) return value;
    return JSON.parse(escaped.reduce((masked, secret) => masked.replaceAll(secret, '[masked]'), text));
  }
}
