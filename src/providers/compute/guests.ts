/** The sandboxes that one job has opened. */
import type { Guest, GuestOptions } from '../sandbox/port.ts';

export class Guests {
  private readonly signal: AbortSignal;
  private readonly opened: Promise<Guest>[] = [];

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  async open(options: Omit<GuestOptions, 'signal'>): Promise<Guest> {
    // Few jobs run code of callers: the others do without the module.
    const { openGuest } = await import('../sandbox/batches.ts');
    const guest = openGuest({ ...options, signal: this.signal });
    this.opened.push(guest);
    return guest;
  }

  async close(): Promise<void> {
    const ended = this.opened.splice(0).map((guest) => guest.then((opened) => opened.close()));
    await Promise.allSettled(ended);
  }
}
