import type { ReferencePart } from '../../../src/edge/http/reference-part.ts';

export const notesApi: ReferencePart = { chapters: [{ name: 'Notes', paths: ['/notes'], description: 'Short texts.' }] };
