/** Ids of commands that requests of this node repeat while they run: an earlier request, on any node, may have sent them. */
export class RepeatedCommands {
  private readonly ids = new Set<string>();

  /** Marks these ids as repeated until the returned function is called. */
  begin(ids: readonly string[]): () => void {
    for (const id of ids) this.ids.add(id);
    return () => {
      for (const id of ids) this.ids.delete(id);
    };
  }

  has(id: string): boolean {
    return this.ids.has(id);
  }
}
