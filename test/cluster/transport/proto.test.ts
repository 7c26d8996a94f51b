import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { askType, frameType } from '../../../src/cluster/transport/frames.ts';

/** What nodes of other versions count on. Add to it; never change a line or use a number again. */
const fields = `
Cluster.Connect (stream Parcel) returns (stream Parcel)
Parcel.hello Hello 1
Parcel.challenge Challenge 2
Parcel.proof Proof 3
Parcel.welcome Welcome 4
Parcel.refusal Refusal 5
Parcel.batch bytes 6
Parcel.piece bytes 7
Hello.lowest_protocol uint32 1
Hello.highest_protocol uint32 2
Hello.from string 3
Hello.to string 4
Hello.nonce bytes 5
Challenge.protocol uint32 1
Challenge.nonce bytes 2
Proof.token string 1
Welcome.token string 1
Reason.REASON_UNSPECIFIED 0
Reason.PROTOCOL 1
Reason.NOT_AUTHENTIC 2
Reason.OTHER_INCARNATION 3
Reason.DUPLICATE 4
Reason.CLOSING 5
Refusal.reason Reason 1
Refusal.message string 2
`;

test('the fields of the node-to-node protocol keep their names, types and numbers', () => {
  const text = readFileSync(new URL('../../../proto/cluster/v1/cluster.proto', import.meta.url), 'utf8').replace(/\/\/.*/g, '');
  const scope: string[] = [];
  const found: string[] = [];
  for (const line of text.split('\n').map((each) => each.trim())) {
    const opened = /^(?:service|message|enum|oneof) (\w+) \{$/.exec(line);
    if (opened) scope.push(line.startsWith('oneof') ? scope.at(-1)! : opened[1]!);
    else if (line === '}') scope.pop();
    else if (scope.length > 0 && line !== '')
      found.push(
        `${scope.at(-1)}.${line
          .replace(/^rpc (\w+)/, '$1 ')
          .replace(/^(\w+) (\w+) = (\d+);/, '$2 $1 $3')
          .replace(/ = (\d+);/, ' $1')
          .replace(/;$/, '')
          .replace(/ {2,}/g, ' ')}`,
      );
  }
  assert.deepEqual(found, fields.trim().split('\n'));
});

test('the types of frames and of asks keep their numbers', () => {
  assert.deepEqual(askType, { command: 0, query: 1, repeat: 2 });
  assert.deepEqual(frameType, { ask: 1, cancel: 2, reply: 3, failure: 4, notification: 5, credit: 6, ping: 7, pong: 8, goodbye: 9 });
});
