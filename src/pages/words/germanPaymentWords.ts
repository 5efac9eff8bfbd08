import type { PaymentWords } from './types.js'

/** What a page says about a payment, in German. */
export const germanPaymentWords: PaymentWords = {
  payTo: '{name} bezahlen',
  loading: 'Ihre Zahlung wird geladen',
  needsScript: 'Diese Seite braucht JavaScript, um Ihre Wallet zu erreichen.',
  notFoundTitle: 'Dieser Zahlungslink funktioniert nicht',
  notFoundText:
    'Der Link ist unvollständig oder gehört zu einer anderen Zahlung. Öffnen Sie ihn noch einmal so, wie der Shop ihn Ihnen gegeben hat, oder bitten Sie den Shop um einen neuen.',
  wrongAddressTitle: 'Diese Zahlung kann nicht gezeigt werden',
  wrongAddressText:
    'Diese Seite hat eine falsche Adresse für Zahlungen. Bitte sagen Sie es dem Shop.',
  lost: 'Der Shop antwortet nicht. Diese Seite versucht es weiter.',
  keepOpen:
    'Der Shop antwortet nicht. Diese Seite versucht es weiter. Lassen Sie sie offen: Nur diese Seite hat Ihre Unterschrift.',

  draftedTitle: '{name} bezahlen',
  draftedText:
    'Sie unterschreiben jetzt. Der Shop kann genau diesen Betrag einmal abbuchen. Unterschreiben kostet keine Gebühr und bewegt kein Geld.',
  paywallText:
    'Sie unterschreiben jetzt und sehen dann, was Sie bezahlt haben. Der Shop kann genau diesen Betrag einmal abbuchen. Unterschreiben kostet keine Gebühr.',
  ceilingText:
    'Sie unterschreiben jetzt einen Höchstbetrag. Der Shop kann bis zu diesem Betrag einmal abbuchen, nie mehr. Unterschreiben kostet keine Gebühr und bewegt kein Geld.',
  againTitle: 'Bitte unterschreiben Sie noch einmal',
  againText:
    'Ihre erste Zahlung ist beendet und kann nie mehr abgebucht werden. Der Shop bittet Sie, sie mit neuer Frist noch einmal zu unterschreiben.',
  signedTitle: 'Ihre Zahlung wird an den Shop gesendet',
  signedText: 'Sie haben unterschrieben. Der Shop prüft Ihre Unterschrift.',
  storedTitle: 'Zahlung freigegeben',
  storedText:
    'Der Shop hat Ihre unterschriebene Zahlung. Es ist noch kein Geld geflossen.',
  capturingTitle: 'Der Shop bucht ab',
  capturingText: 'Der Shop hat die Zahlung an das Netzwerk gesendet.',
  preconfirmedTitle: 'Vom Netzwerk gesehen',
  preconfirmedText:
    'Das Netzwerk hat die Zahlung in seinen nächsten Block aufgenommen. Sie kann noch wegfallen, was selten ist.',
  includedTitle: 'Bezahlt',
  includedText: 'Die Zahlung steht in einem Block und ist bald endgültig.',
  safeTitle: 'Bezahlt',
  safeText:
    'Die Zahlung wird jetzt sehr wahrscheinlich nicht mehr zurückgenommen. Sie ist bald endgültig.',
  finalizedTitle: 'Bezahlt, endgültig',
  finalizedText: 'Die Zahlung kann nicht zurückgenommen werden. Vielen Dank.',
  cancelingTitle: 'Ihr Widerruf ist unterwegs',
  cancelingText:
    'Der Shop hat Ihren Widerruf an das Netzwerk gesendet. Sobald er in einem Block steht, kann diese Zahlung nie mehr abgebucht werden.',
  canceledTitle: 'Widerrufen',
  canceledText:
    'Diese Zahlung ist widerrufen. Es ist kein Geld geflossen, und sie kann nie mehr abgebucht werden.',
  voidedTitle: 'Der Shop hat diese Bestellung geschlossen',
  voidedText:
    'Der Shop wird nichts abbuchen. Ihre Unterschrift gilt, bis sie abläuft. Widerrufen Sie die Zahlung, um sie sofort zu beenden.',
  closedText:
    'Der Shop hat diese Bestellung geschlossen, bevor Sie unterschrieben haben. Es ist kein Geld geflossen.',
  expiredTitle: 'Diese Bestellung ist abgelaufen',
  expiredText:
    'Der Shop hat nicht rechtzeitig abgebucht. Es ist kein Geld geflossen, und diese Zahlung kann nie mehr abgebucht werden. Der Shop kann Sie um eine neue Unterschrift bitten: Diese Seite zeigt sie dann an.',
  neverSignedText:
    'Sie haben nicht rechtzeitig unterschrieben. Es ist kein Geld geflossen. Der Shop kann Sie um eine neue Unterschrift bitten: Diese Seite zeigt sie dann an.',
  consumedTitle: 'Bitte wenden Sie sich an den Shop',
  consumedText:
    'Diese Zahlung kann nicht mehr abgebucht werden: Ihre Nummer wurde im Netzwerk für etwas anderes verwendet.',
  refundingTitle: 'Ihre Erstattung ist unterwegs',
  refundingText: 'Der Shop erstattet {amount} auf das Konto, das bezahlt hat.',
  refundedTitle: '{amount} erstattet',
  refundedText:
    'Der Shop hat {amount} auf das Konto erstattet, das bezahlt hat.',

  paidTo: 'Empfänger',
  account: 'Konto',
  network: 'Netzwerk',
  order: 'Bestellung',
  paidFor: 'Für',
  validFor: 'Abbuchung möglich',
  validForText: '{time} Minuten, nachdem Sie unterschrieben haben',
  signUntil: 'Unterschreiben bis',
  chargeUntil: 'Abbuchung möglich bis',
  timeLeft: 'Verbleibende Zeit',
  over: 'abgelaufen',
  paidAt: 'Abgebucht',
  transaction: 'Transaktion',
  refund: 'Erstattung',
  upTo: 'bis zu {amount}',
  chain: 'Netzwerk {chainId}',

  wallets: 'Wählen Sie Ihre Wallet',
  walletsText:
    'Ihre Wallet zeigt die Zahlung noch einmal, bevor Sie unterschreiben.',
  walletsToCancel:
    'Wählen Sie die Wallet, mit der Sie die Zahlung unterschrieben haben.',
  otherWallet: 'Wallet dieses Browsers',
  noWalletTitle: 'Keine Wallet gefunden',
  noWalletText:
    'Installieren Sie eine Wallet in diesem Browser, oder öffnen Sie diesen Link im Browser Ihrer Wallet-App.',
  payFrom: 'Ihr Konto',
  change: 'Ändern',
  sign: 'Zahlung von {amount} unterschreiben',
  connecting: 'Öffnen Sie Ihre Wallet, um sie zu verbinden',
  checking: 'Die Zahlung wird geprüft',
  signing: 'Öffnen Sie Ihre Wallet, um zu unterschreiben',
  sending: 'Sie wird an den Shop gesendet',
  stopWaiting: 'Nicht länger warten',
  cancel: 'Zahlung widerrufen',
  canceling: 'Wird widerrufen',
  backToShop: 'Zurück zum Shop',
  tryAgain: 'Noch einmal versuchen',
  offers: 'Wählen Sie, wie Sie bezahlen',
  offer: '{amount} in {network}',
  print: 'Beleg drucken',
  receipt: 'Beleg',
  terms: 'Bedingungen',

  declinedTitle: 'Sie haben in Ihrer Wallet abgelehnt',
  declinedText:
    'Es wurde nichts unterschrieben, und es ist kein Geld geflossen. Sie können es noch einmal versuchen, solange Zeit ist.',
  unexpectedTitle: 'Das ist nicht die Zahlung, die hier steht',
  unexpectedText:
    'Der Shop hat eine andere Zahlung verlangt, als diese Seite zeigt. Sie haben nichts unterschrieben. Bitte wenden Sie sich an den Shop.',
  unreachableTitle: 'Der Shop ist nicht erreichbar',
  unreachableText: 'Versuchen Sie es gleich noch einmal.',
  offlineTitle: 'Sie sind offline',
  offlineText: 'Versuchen Sie es noch einmal, wenn Sie verbunden sind.',
  wrongNetworkTitle: 'Ihre Wallet ist in einem anderen Netzwerk',
  wrongNetworkText: 'Diese Zahlung geschieht in {network}.',
  switchNetwork: 'Zu {network} wechseln',
  unknownNetworkTitle: 'Ihre Wallet kennt {network} nicht',
  unknownNetworkText:
    'Fügen Sie dieses Netzwerk in Ihrer Wallet hinzu, und versuchen Sie es noch einmal.',
  tooLittleTitle: 'Zu wenig Geld auf diesem Konto',
  tooLittleText: 'Die Zahlung braucht {amount}. Wählen Sie ein anderes Konto.',
  wrongAccountTitle: 'Ihre Wallet verwendet ein anderes Konto',
  wrongAccountText:
    'Diese Zahlung gehört zu {account}. Wählen Sie dieses Konto in Ihrer Wallet, und versuchen Sie es noch einmal.',
  wrongSignerTitle: 'Ein anderes Konto hat unterschrieben',
  wrongSignerText:
    'Die Unterschrift gehört nicht zu dem Konto, das hier steht. Es ist kein Geld geflossen. Wählen Sie dieses Konto in Ihrer Wallet, und versuchen Sie es noch einmal.',
  tooLateTitle: 'Die Zeit ist abgelaufen',
  tooLateText:
    'Die Zahlung wurde nicht rechtzeitig abgeschlossen. Es ist kein Geld geflossen.',
  inFlightTitle: 'Der Shop bucht diese Zahlung gerade ab',
  inFlightText:
    'Der Shop behält Ihren Widerruf und sendet ihn, falls die Abbuchung scheitert. Wenn sie gelingt, haben Sie bezahlt.',
  changedTitle: 'Die Bestellung hat sich geändert',
  changedText: 'Das ist nicht mehr möglich. Die Seite zeigt den neuen Stand.',
  refusedTitle: 'Der Shop hat Ihre Anfrage abgelehnt',
  refusedText: '{reason} Es ist kein Geld geflossen.',
  waitTitle: 'Der Shop bucht gerade ab',
  waitText:
    'Bezahlen Sie nicht noch einmal. Diese Seite zeigt, was Sie bezahlt haben, sobald das Netzwerk die Abbuchung hat.',
  slowText:
    'Das dauert länger als sonst. Wenn ein Download begonnen hat, haben Sie, was Sie bezahlt haben.',
  noCookiesTitle: 'Ihr Browser behält hier keine Cookies',
  noCookiesText:
    'Diese Seite braucht ein Cookie, um zu zeigen, was Sie bezahlt haben. Öffnen Sie sie in einem eigenen Fenster, oder erlauben Sie Cookies für diese Website.',
  openAlone: 'In eigenem Fenster öffnen',
  notReceivedTitle: 'Der Shop hat Ihre Zahlung nicht erhalten',
  notReceivedText: 'Das Cookie mit Ihrer Zahlung ist nicht angekommen.',
  endedTitle: 'Ihre frühere Zahlung ist beendet',
  endedText:
    'Sie öffnet diese Seite nicht mehr. Wenn sie abgebucht wurde und Sie nichts gesehen haben, bitten Sie den Shop um Erstattung.',
  answeredTitle: 'Das wurde Ihnen schon gezeigt',
  answeredText:
    'Was Sie bezahlt haben, wird einmal gesendet und nicht aufbewahrt. Sie können noch einmal dafür bezahlen.',
  cannotChargeTitle: 'Der Shop kann von diesem Konto nicht abbuchen',
  cannotChargeText:
    'Das Netzwerk hat die Zahlung abgelehnt. Es ist kein Geld geflossen. Wählen Sie ein anderes Konto.',
  tooManyTitle: 'Sie haben zu viele offene Zahlungen',
  tooManyText:
    'Warten Sie, bis sie abgebucht oder abgelaufen sind, und versuchen Sie es noch einmal.',
  failedTitle: 'Der Shop konnte nicht liefern',
  failedText:
    'Bezahlen Sie nicht noch einmal. Versuchen Sie es noch einmal mit der unterschriebenen Zahlung, oder wenden Sie sich an den Shop.',
  busyTitle: 'Ihre Wallet wartet auf eine Antwort',
  busyText:
    'Öffnen Sie Ihre Wallet, beantworten Sie die offene Frage, und versuchen Sie es noch einmal.',
  walletTitle: 'Ihre Wallet hat nicht unterschrieben',
  walletText:
    'Es wurde nichts unterschrieben, und es ist kein Geld geflossen. Versuchen Sie es noch einmal, oder wählen Sie eine andere Wallet.',
  notUsedTitle: 'Sie müssen nicht mehr unterschreiben',
  notUsedText: 'Falls Ihre Wallet noch fragt, lehnen Sie ab.',
  sendItTitle: 'Ein Schritt fehlt noch',
  sendItText:
    'Der Shop sendet Ihren Widerruf nicht. Senden Sie ihn mit Ihrer Wallet; das kostet eine Netzwerkgebühr.',
  sendIt: 'Widerruf senden',
  sentText:
    'Gesendet. Diese Seite zeigt es, sobald das Netzwerk ihn endgültig hat; das kann einige Minuten dauern.',
  unfitWalletTitle: 'Der Shop kann von dieser Wallet nicht abbuchen',
  unfitWalletText:
    'Abonnements brauchen eine Wallet von Base Account, die wiederkehrende Abbuchungen erlaubt. Es wurde nichts abgebucht. Verwenden Sie eine solche Wallet, oder fragen Sie den Shop.',

  details: 'Alles, was Sie unterschreiben',
  detailsText:
    'Ihre Wallet zeigt diese Werte. Vergleichen Sie sie, bevor Sie unterschreiben.',
  message: 'Nachricht',
  ReceiveWithAuthorization: 'Zahlung, die nur der Empfänger einlösen kann',
  TransferWithAuthorization: 'Zahlung, die jeder einreichen kann',
  Permit: 'Erlaubnis für den Checkout-Vertrag',
  token: 'Währung (Token)',
  contract: 'Vertrag des Tokens',
  from: 'Von',
  to: 'An',
  value: 'Betrag',
  validAfter: 'Gültig ab',
  validBefore: 'Gültig bis',
  nonce: 'Nummer (Nonce)',
  recipient: 'Am Ende bezahlt an',
  operator: 'Darf einlösen',
  salt: 'Salt',
  yourAccount: 'Ihr Konto',

  progress: 'Ablauf',
  stepSign: 'Sie unterschreiben',
  stepSigned: 'Von Ihnen unterschrieben',
  stepCharge: 'Der Shop bucht ab',
  stepCharged: 'Vom Shop abgebucht',
  stepFinal: 'Die Zahlung wird endgültig',
  stepIsFinal: 'Endgültig',
  stepCanceling: 'Widerruf gesendet',
  stepCanceled: 'Widerrufen',
  stepClosed: 'Vom Shop geschlossen',
  stepExpired: 'Abgelaufen',
  stepConsumed: 'Für etwas anderes verwendet',
  stepRefunding: 'Erstattung von {amount}',
  stepRefunded: '{amount} erstattet',
  stepRefundFailed: 'Die Erstattung von {amount} ist gescheitert',
  done: 'erledigt',
  now: 'jetzt',
  next: 'später',

  rejected:
    'Das Token hat die Abbuchung abgelehnt. Prüfen Sie, ob das Geld noch auf Ihrem Konto ist. Der Shop kann es noch einmal versuchen.',
}
