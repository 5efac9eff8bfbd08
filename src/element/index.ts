export type { PageToken } from '../pages/web/pageData.js'
export type { PaymentEvents } from '../pages/web/reportEvents.js'
export {
  type CountersignPayElement,
  type CountersignPayEventMap,
  payElementName,
} from './CountersignPayElement.js'
