import type { OrderWords } from './types.js'

export const germanOrderWords: OrderWords = {
  locale: 'de',
  buyer: {
    drafted: {
      state: 'Zahlung freigeben',
      detail:
        'Sie unterschreiben jetzt; der Shop kann genau diesen Betrag einmal abbuchen. Die Unterschrift kostet kein Gas und bewegt kein Geld.',
      next: '',
    },
    draftedCeiling: {
      state: 'Zahlung freigeben',
      detail:
        'Sie unterschreiben jetzt einen Höchstbetrag. Der Shop kann einmal bis zu diesem Betrag abbuchen, nie mehr. Die Unterschrift kostet kein Gas und bewegt kein Geld.',
      next: '',
    },
    signed: {
      state: 'Ihre Zahlung wird an den Shop gesendet',
      detail: 'Sie haben unterschrieben.',
      next: 'Der Shop prüft Ihre Unterschrift.',
    },
    stored: {
      state: 'Zahlung freigegeben',
      detail:
        'Der Shop hat Ihre unterschriebene Zahlung. Es wurde noch kein Geld bewegt.',
      next: '',
    },
    capturing: {
      state: 'Der Shop bucht ab',
      detail: 'Der Shop hat die Zahlung an das Netzwerk gesendet.',
      next: '',
    },
    preconfirmed: {
      state: 'Vom Netzwerk gesehen',
      detail:
        'Das Netzwerk hat die Zahlung in seinen nächsten Block gelegt. Selten wird sie doch noch verworfen.',
      next: '',
    },
    included: {
      state: 'Bezahlt',
      detail: 'Die Zahlung ist in einem Block und wird bald endgültig.',
      next: '',
    },
    safe: {
      state: 'Bezahlt',
      detail:
        'Es ist sehr unwahrscheinlich, dass die Zahlung noch rückgängig wird.',
      next: 'Sie wird bald endgültig.',
    },
    finalized: {
      state: 'Endgültig bezahlt',
      detail: 'Die Zahlung kann nicht mehr rückgängig werden. Vielen Dank.',
      next: '',
    },
    canceling: {
      state: 'Ihr Widerruf ist unterwegs',
      detail: 'Der Shop hat Ihren Widerruf an das Netzwerk gesendet.',
      next: 'Sobald er in einem Block ist, kann diese Zahlung nie mehr abgebucht werden.',
    },
    canceled: {
      state: 'Widerrufen',
      detail:
        'Diese Zahlung ist auf der Chain widerrufen. Es wurde kein Geld bewegt, und sie kann nie mehr abgebucht werden.',
      next: '',
    },
    voided: {
      state: 'Der Shop hat die Bestellung geschlossen',
      detail:
        'Der Shop bucht nicht ab. Ihre Unterschrift bleibt gültig, bis sie abläuft.',
      next: 'Widerrufen Sie die Zahlung, um sie sofort zu beenden.',
    },
    voidedUnsigned: {
      state: 'Der Shop hat die Bestellung geschlossen',
      detail:
        'Sie haben nichts unterschrieben; es kann nichts abgebucht werden.',
      next: '',
    },
    expired: {
      state: 'Die Bestellung ist abgelaufen',
      detail:
        'Es wurde kein Geld bewegt, und es kann nie mehr abgebucht werden.',
      next: '',
    },
    expiredSigned: {
      state: 'Die Bestellung ist abgelaufen',
      detail:
        'Der Shop hat nicht rechtzeitig abgebucht. Es wurde kein Geld bewegt, und es kann nie mehr abgebucht werden.',
      next: '',
    },
    expiredUnsigned: {
      state: 'Die Bestellung ist abgelaufen',
      detail:
        'Sie haben nicht rechtzeitig unterschrieben. Es wurde kein Geld bewegt.',
      next: '',
    },
    consumed: {
      state: 'Bitte wenden Sie sich an den Shop',
      detail:
        'Diese Zahlung kann nicht mehr abgebucht werden: Ihre Nonce wurde auf der Chain für etwas anderes benutzt.',
      next: '',
    },
    refunding: {
      state: 'Ihre Erstattung ist unterwegs',
      detail: 'Der Shop zahlt {amount} auf das zahlende Konto zurück.',
      next: '',
    },
    refundFailed: {
      state: 'Bitte wenden Sie sich an den Shop',
      detail: 'Die Erstattung von {amount} ist fehlgeschlagen.',
      next: '',
    },
    partlyRefunded: {
      state: '{amount} erstattet',
      detail:
        'Der Shop hat {amount} auf das zahlende Konto zurückgezahlt{place}.',
      next: '',
    },
    refunded: {
      state: '{amount} erstattet',
      detail:
        'Der Shop hat {amount} auf das zahlende Konto zurückgezahlt{place}.',
      next: '',
    },
    unknown: {
      state: 'In Bearbeitung',
      detail: 'Diese Seite kennt den Stand dieser Bestellung noch nicht.',
      next: 'Laden Sie die Seite neu, oder wenden Sie sich an den Shop.',
    },
  },
  merchant: {
    drafted: {
      state: 'Wartet auf Unterschrift',
      detail: 'Der Käufer hat noch nicht unterschrieben.',
      next: '',
    },
    draftedCeiling: {
      state: 'Wartet auf Unterschrift',
      detail: 'Der Käufer hat den Höchstbetrag noch nicht unterschrieben.',
      next: '',
    },
    signed: {
      state: 'Wartet auf Unterschrift',
      detail:
        'Der Käufer hat unterschrieben; die Zahlung ist noch nicht gespeichert.',
      next: '',
    },
    stored: {
      state: 'Freigegeben',
      detail:
        'Der Shop hat die unterschriebene Zahlung. Es wurde kein Geld bewegt.',
      next: 'Buchen Sie rechtzeitig ab, oder verzichten Sie.',
    },
    capturing: {
      state: 'Wird abgebucht',
      detail: 'Die Abbuchung wurde an das Netzwerk gesendet.',
      next: '',
    },
    preconfirmed: {
      state: 'Vorbestätigt',
      detail:
        'Die Abbuchung ist in einem Block, der noch nicht fertig ist. Sie kann noch verworfen werden.',
      next: 'Liefern Sie noch nicht.',
    },
    included: {
      state: 'Abgebucht',
      detail: 'Das Geld ist da. Die Chain beweist es.',
      next: 'Die Zahlung wird bald endgültig.',
    },
    safe: {
      state: 'Abgebucht',
      detail:
        'Das Geld ist da. Es ist sehr unwahrscheinlich, dass die Zahlung noch rückgängig wird.',
      next: 'Die Zahlung wird bald endgültig.',
    },
    finalized: {
      state: 'Abgebucht',
      detail: 'Das Geld ist da. Die Zahlung ist endgültig.',
      next: '',
    },
    canceling: {
      state: 'Wird widerrufen',
      detail: 'Der Widerruf des Käufers wurde an das Netzwerk gesendet.',
      next: '',
    },
    canceled: {
      state: 'Widerrufen',
      detail:
        'Die Zahlung ist auf der Chain widerrufen und kann nie mehr abgebucht werden.',
      next: '',
    },
    voided: {
      state: 'Verzichtet',
      detail:
        'Der Shop verzichtet auf diese Zahlung. Die Unterschrift bleibt gültig, bis sie abläuft.',
      next: '',
    },
    voidedUnsigned: {
      state: 'Verzichtet',
      detail:
        'Der Shop verzichtet auf diese Bestellung. Niemand hat sie unterschrieben.',
      next: '',
    },
    expired: {
      state: 'Abgelaufen',
      detail: 'Die Frist ist vorbei. Es wurde kein Geld bewegt.',
      next: '',
    },
    expiredSigned: {
      state: 'Abgelaufen',
      detail:
        'Die Zahlung wurde nicht rechtzeitig abgebucht. Es wurde kein Geld bewegt.',
      next: 'Bitten Sie den Käufer, noch einmal zu unterschreiben.',
    },
    expiredUnsigned: {
      state: 'Abgelaufen',
      detail:
        'Der Käufer hat nicht rechtzeitig unterschrieben. Es wurde kein Geld bewegt.',
      next: '',
    },
    consumed: {
      state: 'Nonce anderweitig benutzt',
      detail: 'Die Nonce der Zahlung wurde für etwas anderes benutzt.',
      next: 'Entscheiden Sie, was mit der Bestellung geschieht.',
    },
    refunding: {
      state: 'Erstattung unterwegs',
      detail: '{amount} werden dem Zahler erstattet.',
      next: '',
    },
    refundFailed: {
      state: 'Erstattung fehlgeschlagen',
      detail: 'Die Erstattung von {amount} ist fehlgeschlagen.',
      next: 'Erstatten Sie noch einmal.',
    },
    partlyRefunded: {
      state: 'Teilweise erstattet',
      detail: 'Sie haben dem Zahler {amount} erstattet{place}.',
      next: '',
    },
    refunded: {
      state: 'Erstattet',
      detail: 'Sie haben dem Zahler {amount} erstattet{place}.',
      next: '',
    },
    unknown: {
      state: 'Unbekannter Stand',
      detail: 'Ein neuerer Server hat den Stand dieser Bestellung geschrieben.',
      next: 'Aktualisieren Sie dieses Programm, um ihn zu lesen.',
    },
  },
  requested: {
    capture: 'Die verlangte Abbuchung wird als Nächstes gesendet.',
    void: 'Schlägt die Abbuchung fehl, wird auf die Zahlung verzichtet.',
    cancel: 'Der Widerruf ist unterwegs.',
  },
  urgent: {
    unexpected: 'Die Zahlung kam unerwartet: Erstatten Sie sie.',
    overpaid:
      'Der Käufer hat zweimal bezahlt: Erstatten Sie die zweite Zahlung.',
    needsReview:
      'Die Bestellung wartet auf Ihre Entscheidung: Buchen Sie ab, oder verzichten Sie.',
  },
  because: 'Grund: {reason}.',
  reasons: {
    malformedSignature: 'die Unterschrift ist fehlerhaft',
    wrongChain: 'die Zahlung ist für eine andere Chain',
    wrongToken: 'die Zahlung ist für einen anderen Token',
    wrongPrimaryType: 'eine andere Art von Nachricht wurde unterschrieben',
    wrongNonce: 'die Zahlung hat eine andere Nonce',
    wrongPayer: 'die Zahlung ist von einem anderen Konto',
    wrongRecipient: 'die Zahlung ist an ein anderes Konto',
    wrongOperator: 'die Zahlung nennt einen anderen Operator',
    selfPayment: 'Zahler und Empfänger sind dasselbe Konto',
    windowTooLong: 'die Frist ist zu lang',
    paused: 'der Token ist angehalten',
    payerBlocked: 'der Token sperrt den Zahler',
    recipientBlocked: 'der Token sperrt Ihr Konto',
    notYetValid: 'die Frist hat noch nicht begonnen',
    expired: 'die Frist ist vorbei',
    consumed: 'die Nonce der Zahlung ist schon benutzt',
    wrongDomain: 'der Token hat eine andere Domain',
    wrongSigner: 'die Unterschrift ist nicht vom Zahler',
    walletNotDeployed: 'die Wallet des Zahlers ist nicht auf der Chain',
    walletRejects: 'die Wallet des Zahlers lehnt die Unterschrift ab',
    insufficientFunds: 'der Zahler hat nicht genug Geld',
    insufficientAllowance:
      'der Zahler hat dem Checkout-Vertrag weniger erlaubt als die Zahlung',
    unsupportedToken: 'der Token kennt keine unterschriebenen Zahlungen',
    checkoutNotDeployed: 'der Checkout-Vertrag ist nicht auf der Chain',
    gasTooHigh: 'die Abbuchung würde zu viel Gas brauchen',
    simulationFailed: 'die Probe ist fehlgeschlagen',
    wrongAmount: 'die Zahlung hat einen anderen Betrag',
    expiresTooSoon: 'die Frist endet zu bald',
    wrongSubmitter: 'nur der Empfänger kann sie einreichen',
    unsimulatedWallet: 'die Unterschrift der Wallet war nicht zu prüfen',
    contractPayer: 'der Zahler ist ein Vertrag',
    deadlinePassed: 'es ist zu spät für die Abbuchung',
    feeTooHigh: 'die Gebühr des Netzwerks ist zu hoch',
    otherPayment: 'mit der Nonce wurde eine andere Zahlung gemacht',
    sealBroken: 'die gespeicherte Unterschrift lässt sich nicht öffnen',
    revoked: 'die Erlaubnis wurde widerrufen',
    allowanceUsed: 'der Betrag für diesen Zeitraum ist verbraucht',
    nothingToClaim: 'es ist nichts mehr einzuziehen',
    channelWithdrawn: 'im Kanal ist weniger, als die Zahlung braucht',
    unclaimedCharges: 'die Beträge des Kanals sind noch nicht eingezogen',
    needsReview: 'der Zahler muss geprüft werden',
    replaced: 'die Transaktion war nicht mehr nötig',
    voided: 'inzwischen wurde auf die Zahlung verzichtet',
    signingDeclined: 'es wurde in Ihrer Wallet abgelehnt',
    walletRefused: 'Ihre Wallet hat das Senden verweigert',
  },
  place: { one: ', in Block {blocks}', several: ', in den Blöcken {blocks}' },
  deadlines: {
    buyer: {
      sign: 'Zeit zum Unterschreiben',
      capture: 'Zeit, in der der Shop abbuchen kann',
      signature: 'Ihre Unterschrift läuft ab in',
      over: 'Abgelaufen am',
    },
    merchant: {
      sign: 'Zeit für den Käufer zum Unterschreiben',
      capture: 'Zeit zum Abbuchen',
      signature: 'Die Unterschrift des Käufers läuft ab in',
      over: 'Abgelaufen am',
    },
  },
}
