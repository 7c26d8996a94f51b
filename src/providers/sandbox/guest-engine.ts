/** The engine that code is run by: QuickJS in WebAssembly, with a memory that has an end. */
import release from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';

/** Node has it; the type library that declares it is the browser's. */
declare const WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer } };

const pageBytes = 64 * 1024;
const firstPages = 256;
export const nullOrNoMemory = 'null was thrown, or the memory ran out';
export const timeIsUp = 'stopped: the time limit was reached';

/** A memory that cannot grow beyond the limit, even if the engine's own accounting misses allocations. */
export async function loadEngine(memoryBytes: number) {
  const wasmMemory = new WebAssembly.Memory({ initial: firstPages, maximum: Math.max(firstPages, memoryBytes / pageBytes) });
  return {
    wasmMemory,
    engine: await newQuickJSWASMModuleFromVariant(newVariant(release as unknown as QuickJSSyncVariant, { wasmMemory })),
  };
}

export function describeError(context: QuickJSContext, error: QuickJSHandle): string {
  const property = (name: string) => {
    const handle = context.getProp(error, name);
    return context.typeof(handle) === 'string' ? context.getString(handle) : '';
  };
  if (context.typeof(error) !== 'object') return `thrown: ${context.typeof(error) === 'symbol' ? 'a symbol' : String(context.dump(error))}`;
  // With no memory left the engine cannot even make an error, and throws null.
  if (context.dump(error) === null) return nullOrNoMemory;
  const message = property('message') || JSON.stringify(context.dump(error)) || 'an object was thrown';
  if (message === 'interrupted') return timeIsUp;
  const line = /code\.js:(\d+)/.exec(property('stack'))?.[1];
  return `${property('name') || 'Error'}: ${message}${line ? ` (line ${line})` : ''}`.slice(0, 4000);
}
