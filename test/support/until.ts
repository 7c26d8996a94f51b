/** Waiting for a condition without an event. */

/**
 * Resolves when `condition` holds; asked again whenever a timer of a few milliseconds runs. Fails after a minute: then it never holds. A test
 * whose rule is how soon it holds measures that itself.
 */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`Waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
