"""English stop words of three letters or more, in the form that the tokeniser produces."""

STOP_WORDS = frozenset(
    """
    about above after again against all already also although always and another any anything are
    around because been before being below between both but can cannot could did does doing done
    down during each either else etc even ever every few following for from further get gets given
    gives had has have having hence her here hers him his how however into its itself just least
    less let like made make makes many may maybe might more moreover most much must need needed
    needs neither never nor not nothing now off often once one ones only onto other others
    otherwise our out over own per perhaps rather same see several shall she should since some
    something still such than that the their theirs them then there therefore these they this those
    though three through thus too two under unless until upon use used useful uses using usually
    very via was well were what whatever when where whereas whether which while who whole whose why
    will with within without would yes yet you your yours
    ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren
    won wouldn
    """.split()
)
