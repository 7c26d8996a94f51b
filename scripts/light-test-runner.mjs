/**
 * Loaded before each test file of `npm test` (`--import`): keeps Node's test runner from following every promise and timer. It does so to know in
 * which test an uncaught error began, and took up to three quarters of a file's processor time for that. Without it an uncaught error fails
 * the file, not one of its tests, and its stack is printed here. What is tested runs as in the service, where nobody follows promises either.
 */
import asyncHooks from 'node:async_hooks';

const { createHook } = asyncHooks;

asyncHooks.createHook = (callbacks) => {
  const hook = createHook(callbacks);
  // Others may have theirs.
  if (!new Error().stack.includes('node:internal/test_runner/')) return hook;
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => console.error(`${event}:`, error));
  hook.enable = () => hook;
  return hook;
};
