/** Expectations of contract tests for an answer. */
import assert from 'node:assert/strict';
import type { Operation } from '../support/described-api.ts';
import type { Answer } from '../support/http-client.ts';

export function expect(answer: Answer, status: number, operation: Operation, what: string): void {
  assert.equal(answer.status, status, `${operation.name}, ${what}: ${answer.text.slice(0, 300)}`);
}
