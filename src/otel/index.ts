export { openTelemetry, type Telemetry } from './openTelemetry.js'
export type { WatchHealthParameters } from './types.js'
