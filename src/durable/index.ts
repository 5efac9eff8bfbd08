export {
  type DurableObjectStoreParameters,
  durableObjectStore,
} from './durableObjectStore.js'
export type { DurableStorage, DurableValue } from './durableStorage.js'
