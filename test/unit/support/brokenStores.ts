import { brokenArchive } from './brokenArchive.js'
import { brokenChannels } from './brokenChannels.js'
import { brokenEvents } from './brokenEvents.js'
import { brokenLeases } from './brokenLeases.js'
import { brokenNotes } from './brokenNotes.js'
import { brokenQueries } from './brokenQueries.js'
import { brokenRecipients } from './brokenRecipients.js'
import { brokenRows } from './brokenRows.js'
import { brokenSecrets } from './brokenSecrets.js'
import { brokenSubscriptions } from './brokenSubscriptions.js'
import { brokenWrites } from './brokenWrites.js'
import type { BrokenStore } from './spoilStore.js'

/** What is wrong with a store, and the cases that have to say so. */
export const brokenStores: readonly BrokenStore[] = [
  ...brokenRows,
  ...brokenQueries,
  ...brokenSecrets,
  ...brokenWrites,
  ...brokenEvents,
  ...brokenLeases,
  ...brokenNotes,
  ...brokenSubscriptions,
  ...brokenChannels,
  ...brokenRecipients,
  ...brokenArchive,
]
