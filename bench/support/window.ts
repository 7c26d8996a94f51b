/** Holds a sender back while more than so many deliveries have not arrived: sockets stay full, and none is closed for reading too slowly. */

/** Deliveries on their way, over all sockets. At 250 bytes each and 1,000 sockets that is 16 kB a socket. */
export const windowDeliveries = 64_000;

export class DeliveryWindow {
  private sent = 0;
  private arrived = 0;
  private waiting: (() => void)[] = [];
  private closed = false;

  /** A new measurement, with nothing on its way. */
  reset(): void {
    this.sent = 0;
    this.arrived = 0;
    this.closed = false;
  }

  /** How many deliveries fit now. */
  get room(): number {
    return windowDeliveries - (this.sent - this.arrived);
  }

  take(deliveries: number): void {
    this.sent += deliveries;
  }

  /** Resolves when there is room, or nothing more is to be sent. */
  async wait(): Promise<void> {
    while (this.room <= 0 && !this.closed) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** @param total arrived since the reset */
  progress(total: number): void {
    this.arrived = total;
    if (this.room > 0) this.wake();
  }

  close(): void {
    this.closed = true;
    this.wake();
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const go of waiting) go();
  }
}
