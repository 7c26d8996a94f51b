export const notesIds = { note: 'note_' } as const;
