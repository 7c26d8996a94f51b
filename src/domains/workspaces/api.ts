/** The API reference's chapters on workspaces, with examples. */
import { exampleId } from '../../edge/http/examples.ts';
import type { ReferencePart } from '../../edge/http/reference-part.ts';

export const workspacesApi: ReferencePart = {
  chapters: [{ name: 'Workspaces', paths: ['/workspaces'], description: 'Files that agents read and write, shared by tasks.' }],
  examples: {
    '/workspaces/{id}': exampleId('ws_'),
    '/workspaces/{id}/files/{file}': 'sales.csv',
    'Workspace.id': exampleId('ws_'),
    'File.id': exampleId('wsf_'),
    workspace_id: exampleId('ws_'),
    download_url: `https://troupe.example.com/v1/workspaces/${exampleId('ws_')}/files/${exampleId('wsf_')}?token=v4.public.…`,
    filename: 'sales.csv',
    mime_type: 'text/csv',
    'File.name': 'sales.csv',
    'File.type': 'text/csv',
    size: 18_214,
    size_bytes: 18_214,
    storage_path: `workspaces/${exampleId('ws_')}`,
  },
};
