/** The settings determine the model of a node. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { noLog } from '../../../src/log.ts';
import { createModel, type ModelSettings } from '../../../src/providers/model/create-model.ts';
import type { Model } from '../../../src/providers/model/port.ts';
import { text } from '../../support/openai-server.ts';
import { aRequest, served, someOptions } from './support.ts';

const offlineModel: Model = { name: 'offline', turn: () => Promise.reject(new Error('not asked')) };
const nameFor = (settings: ModelSettings) => createModel(settings, { log: noLog, offline: () => offlineModel }).name;

test('without any setting, or with empty ones, it is the offline model', () => {
  assert.equal(nameFor({}), 'offline');
  assert.equal(nameFor({ modelBaseUrl: ' ', modelApiKey: '', anthropicApiKey: null, modelName: 'gpt-5' }), 'offline');
});

test('a base address takes precedence over keys, Anthropic over OpenAI, and MODEL_NAME over every default', () => {
  const keys = { modelApiKey: 'k1', anthropicApiKey: 'k2' };
  assert.equal(nameFor({ ...keys, modelBaseUrl: 'http://127.0.0.1:1/v1', modelName: 'llama3' }), 'llama3');
  assert.match(nameFor(keys), /^claude-/);
  assert.match(nameFor({ modelApiKey: 'k1' }), /^gpt-/);
  assert.equal(nameFor({ ...keys, modelName: 'claude-opus-5-5' }), 'claude-opus-5-5');
});

test('an endpoint without a key gets requests without one', async (t) => {
  const server = await served(t, () => text('hi'));
  const model = createModel({ modelBaseUrl: `${server.url}/`, modelName: 'llama3' }, { log: noLog, offline: () => offlineModel });
  assert.equal((await model.turn(aRequest, someOptions())).text, 'hi');
  assert.equal(server.requests[0]!.headers.authorization, undefined);
  assert.equal(server.requests[0]!.path, '/v1/chat/completions');
});
