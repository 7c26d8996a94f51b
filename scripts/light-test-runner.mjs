/**
 * Loaded before each test file of `npm test` (`--import`). Node's test runner follows every promise, timer and socket with async_hooks, to know
 * in which test an uncaught error began; that takes up to three quarters of the processor time of a file with many promises. With this it
 * follows only the functions of suites and tests until they first wait: it needs that to find the suite of a test. An uncaught error fails
 * the file, not one of its tests, and is printed with its stack.
 *
 * A test or hook that is declared after an `await` in another test or suite would belong to the file: use `t.test`, `t.after` there.
 */
import asyncHooks from 'node:async_hooks';

const { createHook, AsyncResource } = asyncHooks;

asyncHooks.createHook = (callbacks) => {
  const hook = createHook(callbacks);
  // Other hooks work as usual.
  if (!new Error().stack.includes('node:internal/test_runner/')) return hook;
  hook.enable = () => {
    followScopes(callbacks.init);
    for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => console.error(`${event}:`, error));
    return hook;
  };
  return hook;
};

/** Tests and suites of the runner are such resources. It maps the ids of their scopes to them. */
function followScopes(init) {
  const { runInAsyncScope } = AsyncResource.prototype;
  AsyncResource.prototype.runInAsyncScope = function (...args) {
    init(this.asyncId(), '', 0, this);
    return runInAsyncScope.apply(this, args);
  };
}
