/** All event types, as the domains declare them: which types a list of names selects, which scope reads an event, and which mode it has. */
import { firstRepeated } from '../../first-repeated.ts';
import type { Mode } from '../../mode.ts';
import type { Scope } from '../../scopes.ts';
import { hasScope, type Principal } from '../auth/principal.ts';

/** A domain's declaration: families of events by the part of their types before the dot, e.g. `card`. */
export type EventFamilies = Readonly<Record<string, EventFamily>>;
export type EventFamily = {
  /** The parts after the dot: `created` for `card.created`. */
  readonly names: readonly string[];
  /** The scope that reads them; null: every principal of the account may read them. */
  readonly scope: Scope | null;
  /** Their data contains the mode: readers of one mode do not get events of the other. */
  readonly ofOneMode?: true;
  /** Second types, by name: the event is committed under its own type; subscribers to the second type get it under the second type. */
  readonly aliases?: Readonly<Record<string, string>>;
};

export class EventCatalogue {
  readonly types: readonly string[];
  private readonly families: ReadonlyMap<string, EventFamily>;
  private readonly aliases: ReadonlyMap<string, string>;

  /** Throws where two domains declare the same family. */
  constructor(declared: readonly EventFamilies[]) {
    const families = declared.flatMap((ones) => Object.entries(ones));
    this.families = new Map(families);
    const twice = firstRepeated(families.map(([name]) => name));
    if (twice !== undefined) throw new Error(`Two domains declare the same family of events: ${twice}`);
    this.types = families.flatMap(([family, { names }]) => names.map((name) => `${family}.${name}`));
    this.aliases = new Map(
      families.flatMap(([family, { aliases = {} }]) => Object.entries(aliases).map(([name, alias]) => [`${family}.${name}`, alias])),
    );
  }

  /** An event type, all of a family (`task.*`), or `*`. */
  isEventName(name: string): boolean {
    if (name === '*') return true;
    return name.endsWith('.*') ? this.families.has(name.slice(0, -2)) : this.types.includes(name);
  }

  /** The event types that a name selects. */
  typesNamed(name: string): string[] {
    return this.types.filter((type) => nameMatches(name, type));
  }

  /** The type under which a subscriber to `wanted` gets an event of this type; null if the subscriber did not select it. */
  chosenName(wanted: readonly string[], type: string): string | null {
    if (wanted.some((name) => nameMatches(name, type))) return type;
    const alias = this.aliases.get(type);
    return alias !== undefined && wanted.some((name) => nameMatches(name, alias)) ? alias : null;
  }

  /** The scope that reads an event type; null where every principal of the account may read it, and for an unknown family. */
  readScope(type: string): Scope | null {
    return this.families.get(familyOf(type))?.scope ?? null;
  }

  /** The event types that the principal may not read. */
  unreadableTypes(principal: Principal): string[] {
    return this.types.filter((type) => !this.mayRead(principal, type));
  }

  mayRead(principal: Principal, type: string): boolean {
    if (principal.scopes === 'all') return true;
    const scope = this.readScope(type);
    return scope === null || hasScope(principal, scope);
  }

  /**
   * The mode of an event; null: readers of both modes get it. Events recorded before test mode existed are live.
   *
   * @param event.envelope as JSON: quotes in a caller's text are escaped, so the text cannot be mistaken for the field
   */
  modeOf({ type, envelope }: { type: string; envelope: string }): Mode | null {
    if (this.families.get(familyOf(type))?.ofOneMode !== true) return null;
    return /"mode": ?"test"/.test(envelope) ? 'test' : 'live';
  }
}

function nameMatches(name: string, type: string): boolean {
  return name === '*' || name === type || (name.endsWith('.*') && type.startsWith(name.slice(0, -1)));
}

function familyOf(type: string): string {
  return type.slice(0, type.indexOf('.'));
}
