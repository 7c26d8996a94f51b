/** The reason that a declined request of an issuer gets. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { monotonicMs } from '../../../src/clock.ts';
import { answerRequest, type IssuerParts } from '../../../src/domains/commerce/issuer-authorization/answer.ts';
import { AppError } from '../../../src/errors.ts';
import { noLog } from '../../../src/log.ts';

const request = {
  ...{ kind: 'request' as const, issuerId: 'iauth_1', issuerCardId: 'ic_1', merchant: 'Shop' },
  ...{ number: 0, amountMinor: 700, currency: 'USD' },
};

/** Parts whose database answers with an error, after `until`. */
function partsFailingAt(until: number): IssuerParts {
  const read = async (): Promise<never> => {
    while (monotonicMs() < until);
    throw new AppError('unavailable', 'No answer in time');
  };
  const unused = () => assert.fail('no actor is asked');
  return { actors: { ask: unused, query: unused }, database: { read } as unknown as IssuerParts['database'], log: noLog };
}

test('a step that fails when the time is over declines the request as a timeout, as the timer would', async () => {
  const deadlineMs = monotonicMs() + 5;
  const answer = await answerRequest(partsFailingAt(deadlineMs), request, deadlineMs);
  assert.deepEqual(answer, { approved: false, authorizationId: null, reason: 'timeout' });
});

test('a step that fails before the time is over declines the request as unavailable', async () => {
  const answer = await answerRequest(partsFailingAt(0), request, monotonicMs() + 60_000);
  assert.deepEqual(answer, { approved: false, authorizationId: null, reason: 'unavailable' });
});
