/** Id prefixes of tasks. */
export const tasksIds = { task: 'task_', agent: 'agnt_', approval: 'appr_', deliverable: 'dlvr_' } as const;
